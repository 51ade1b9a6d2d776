"""Running notebooks: their parameters, what they leave, what is stale, and whether all is as committed."""
