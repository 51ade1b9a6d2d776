"""Past the paper: the best γ, tables that keep their promises, other noise, and many counts at once."""
