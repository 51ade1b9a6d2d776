"""The workshop around the mathematics: what the paper prints, compared with what we compute."""
