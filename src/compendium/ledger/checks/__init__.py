"""How each claim of the paper is checked: a module for each section, a function for each kind of claim.

A check takes a `Claim` and returns the truth that it is compared with. It may use the claim's indices
(``at``) and, where a formula is printed, evaluate the formula; it never decides by the printed number.
"""
