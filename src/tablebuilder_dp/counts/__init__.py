"""Tables for any count: noise for counts below D, perturbation tables, and files of other software."""
