"""Hypothesis draws the same examples in every run, so a red test is red for everyone."""

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("fixed")
