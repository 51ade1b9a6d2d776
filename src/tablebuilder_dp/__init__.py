"""The differential privacy of the ABS TableBuilder noise.

At the root stand the sections of the paper: `noise` (III-A), `privacy` (III-B), `design` (III-C, III-D),
`cellkey` (IV), `sampling` (V), and `certified`, which encloses all of their quantities in intervals.

`beyond` goes past the paper, `counts` makes tables for any count, `microdata` goes from records to a
published table, `cli` is the command line, and `support` is what all of them stand on.

A wrong argument is refused everywhere in the same way: a ValueError, or a TypeError where its type is wrong,
names the argument, what is allowed and what was given. What else a function raises, its docstring says.

A docstring that names a theorem or a lemma by its number means that of paper/proofs.md; Propositions 1 to 3
are the paper's.
"""
