"""Exercises with many right answers: each function says what is wrong with one, or nothing.

The name of a function is the name of its exercise. A sentence names what the answer lacks, not a right one.
"""

from __future__ import annotations
