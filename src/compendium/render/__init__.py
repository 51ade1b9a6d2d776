"""Documents made of the ledger and the numbers: the errata, the report, the README's lines."""
