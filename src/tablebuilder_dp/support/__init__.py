"""What everything stands on: checked parameters, rigorous intervals, files that are whole or not there."""
