"""The errata: a block for each kind of verdict, from entries as they are recorded."""

import re

from compendium.ledger import book, claims, verdicts
from compendium.render import errata


def test_errata_have_a_block_for_each_kind_of_verdict() -> None:
    stated = claims.load()
    names = ("exp-variance-8", "ex2-cmf-24", "ex1-p12", "guide-delta-domain", "exp-variance-16", "ex1-p0")
    others = ("priv-two-cases", "ex1-pmf", "post-guarantee")
    entries = [verdicts.settle(stated[name]) for name in (*names, *others)]
    ours = verdicts.settle(claims.load(claims.OURS)["fix-drop-slack"])
    content = book.Book(tuple(entries), (ours,), ()).content()
    text = errata.document(book.of(content))
    assert re.findall(r"^## (.*)", text, re.MULTILINE) == [
        "In fifteen minutes",
        "Root causes",
        "What does not hold",
        "Slips",
        "What depends on the reading",
        "Omitted boundaries",
        "Display rounding",
        "Last digits",
        "Remarks on notation",
        "Corrected statements",
    ]
    assert "It has 9 statements of the paper; the 1 that are not listed" in " ".join(text.split())
    assert "1 are proved for all parameters" not in text
    assert "| **contradicted** | conclusion |" in text
    assert "- **One direction only** (1). " in text
    assert "*Section V-B, eqs. (45)–(46), line 338. At stake: conclusion. Ledger: `post-guarantee`.*" in text
    assert (
        "- **Printed.** (ε<sup>Q</sup>, δ<sup>Q</sup>)-DP\n"
        r"- **Read as.** $\mathrm{forward} \le \delta^Q\text{ and }\mathrm{backward} \le \delta^Q$"
    ) in text
    assert "- **It should be.** 0.013165377565781\n- **What is true.** 0.01316537756578073430." in text
    assert "- **What was printed.** p(±11)." in text
    assert "- **It should be.** $0 < \\delta < 1$\n- **Checked.** Fails in 6 of the 10 cases tried" in text
    assert "- *where the support is full*: confirmed (0.00666887)" in text
    assert errata.item(entries[0]) in text
