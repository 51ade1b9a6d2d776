"""Calculations that notebooks and checks share: the paper's experiment, attacks on tables, the game."""
