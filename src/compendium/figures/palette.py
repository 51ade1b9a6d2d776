"""The colours of figures, pages and report: Okabe and Ito's, which colour-blind readers can tell apart."""

BLUE, ORANGE, GREEN, PURPLE, SKY, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#666666"
