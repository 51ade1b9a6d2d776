"""Notebook 05: what digits buy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compendium.figures.drawing import (
    Drawing,
    canvas,
    label_end,
    looks,
    styled,
)
from compendium.figures.palette import GREY
from compendium.studies import example_1
from tablebuilder_dp.design import Design


@styled
def errors_by_digits(name: str, noise: Design, *, digits: Sequence[int], decimals: int) -> Drawing:
    """How far plain evaluations of the pmf are from the truth, and how far a rounded decimal may be."""
    figure, axes = canvas(5.4, 4.0)
    z = list(range(noise.support + 1))
    data: dict[str, Sequence[Any]] = {"z": z}
    rounding = [0.5 * 10.0**-decimals / mass for mass in noise.pmf[noise.support :]]
    axes.semilogy(z, rounding, "--", color=GREY)
    place = noise.support // 2
    axes.annotate(
        f"half a unit of the {decimals}th decimal",
        (z[place], rounding[place]),
        (0, 14),
        textcoords="offset points",
        color=GREY,
        ha="center",
    )
    for count, colour, _, marker in looks(digits):
        errors = example_1.plain_errors(noise, count)
        axes.semilogy(z, errors, marker, color=colour, markersize=4)
        label_end(axes, (z[-1], errors[-1]), f"{count} digits", colour)
        data[f"error_{count}"] = [f"{error:.3e}" for error in errors]
    axes.set(xlabel="noise $z$", ylabel="relative error of $p(z)$", xlim=(-0.5, 1.2 * noise.support))
    axes.set_ylim(top=1e-7)
    axes.set_xticks([value for value in z if value % 5 == 0])
    axes.set_yticks([10.0**power for power in range(-10, -max(digits) - 10, -10)], minor=False)
    axes.minorticks_off()
    levels = f"{', '.join(map(str, digits[:-1]))} or {digits[-1]}"
    caption = (
        rf"The relative errors of $p(0), \dots, p({noise.support})$ if the formulas are evaluated with "
        f"{levels} digits. Below the dashed line a relative error cannot move a value by more than half a "
        f"unit of its {decimals}th decimal."
    )
    alt = (
        f"Points of the relative error against z from 0 to {noise.support} on a logarithmic axis, in "
        f"{len(digits)} level clouds, one for each number of digits, the lower the more digits; above all "
        f"of them the dashed line of half a unit of decimal {decimals}."
    )
    return Drawing(name, figure, caption, alt, data)
