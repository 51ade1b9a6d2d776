"""The colours of figures, pages and report: Okabe and Ito's, which colour-blind readers can tell apart."""

BLUE, ORANGE, GREEN, PURPLE, SKY, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#666666"

VERDICTS = {
    "contradicted": "orange",
    "slip": "purple",
    "depends": "blue",
    "omitted boundary": "grey",
    "display rounding": "grey",
    "confirmed to k digits": "sky",
    "confirmed": "green",
}
"""The name of the colour of each kind of verdict, in the figure and on the pages."""
