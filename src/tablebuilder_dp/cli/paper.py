"""The commands about the paper's noise: ``design``, ``privacy``, ``table`` and ``sample``."""

from __future__ import annotations

import argparse
import math
import shlex
from pathlib import Path
from typing import Any

from tablebuilder_dp import design, privacy, sampling
from tablebuilder_dp.beyond import best_gamma, composition, many_cells, symmetric
from tablebuilder_dp.cli import tables
from tablebuilder_dp.cli.answers import PROGRAM, Answer, Register
from tablebuilder_dp.counts import perturbation_table, small_counts, table_files
from tablebuilder_dp.noise import AnyNoise, Geometric, Noise
from tablebuilder_dp.support import files, parameters


def register(command: Register) -> None:
    """Add the commands."""
    guide = command(
        "design", _design, "the smallest support that reaches (epsilon, delta), or the noise for many cells"
    )
    guide.add_argument("--epsilon", required=True, metavar="E", help="privacy loss, above 0")
    guide.add_argument(
        "--delta",
        required=True,
        metavar="D",
        help="the delta of (epsilon, delta), in (0, 1)",
    )
    choice = guide.add_mutually_exclusive_group()
    add_slack(choice)
    choice.add_argument(
        "--free-gamma", action="store_true", help="take the best gamma for each support, not Proposition 3's"
    )
    choice.add_argument(
        "--cells",
        metavar="K",
        help="the noise of the least variance found with which K counts that one person changes, with "
        "independent noises, keep (epsilon, delta) together",
    )
    guide.add_argument(
        "--noise",
        choices=many_cells.FAMILIES,
        help="with --cells: the family of the noise; best is the one of less variance "
        f"(default: {many_cells.FAMILIES[0]})",
    )

    profile = command("privacy", _privacy, "delta at one or more epsilon for a given noise or table")
    profile.add_argument("--support", metavar="D", help="noise on [-D, D]")
    shape = profile.add_mutually_exclusive_group()
    shape.add_argument("--variance", metavar="V", help="variance of the noise")
    shape.add_argument("--gamma", metavar="G", help="decay of the noise, C exp(-G z^2)")
    shape.add_argument("--rate", metavar="A", help="geometric noise in its place, C exp(-A |z|)")
    profile.add_argument("--epsilon", nargs="+", metavar="E", help="privacy losses")
    profile.add_argument(
        "--cells",
        metavar="K",
        help="cells with one person in them, of independent noises (default: 1)",
    )
    profile.add_argument(
        "--table",
        metavar="FILE",
        help="a perturbation table instead, as tau-argus, SAS, ptable or ONS tools have it",
    )

    table = command("table", _table, "the lookup table of a design, and its privacy after sampling")
    _add_table(table)
    _add_file(table)
    draw = command("sample", _sample, "the noise that a design's lookup table gives to cell keys")
    _add_table(draw)
    draw.add_argument("keys", nargs="+", metavar="KEY", help="cell keys in [0, KEYSIZE)")


def add_slack(parser: argparse._ActionsContainer) -> None:
    """Add ``--slack``, the paper's by default."""
    parser.add_argument(
        "--slack",
        default=str(float(design.PAPER_SLACK)),
        metavar="S",
        help="distance of gamma from epsilon/(2D-1), in parts of its range (default: %(default)s)",
    )


def _add_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--epsilon", required=True, metavar="E", help="privacy loss of the design")
    parser.add_argument("--support", required=True, metavar="D", help="noise on [-D, D]")
    add_slack(parser)
    parser.add_argument("--keysize", required=True, metavar="K", help="number of keys, such as 2^32")
    parser.add_argument(
        "--rule",
        choices=symmetric.RULES,
        default=symmetric.RULES[0],
        help="how probabilities become keys: the paper's ceilings, or symmetric weights "
        "that keep epsilon in both directions (default: %(default)s)",
    )


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the table of all counts to a file; needs --small-counts"
    )
    parser.add_argument(
        "--small-counts",
        choices=small_counts.CHOICES,
        help="counts below D in that file: unbiased rows of their own, or negative results set to 0",
    )
    parser.add_argument(
        "--layout", choices=table_files.LAYOUTS, help="how to write that file (default: tau-argus)"
    )


def _design(options: argparse.Namespace) -> Answer:
    if options.cells is not None:
        return _design_for_cells(options)
    if options.noise is not None:
        raise ValueError("argument --noise: not allowed without --cells")
    own: dict[str, float]
    if options.free_gamma:
        made = best_gamma.guide(options.epsilon, options.delta)
        own = {"kink": best_gamma.kink(made)}
    else:
        made = design.guide(options.epsilon, options.delta, slack=options.slack)
        own = {"iota": float(made.iota)}
    answer: dict[str, Any] = {
        "support": made.support,
        "epsilon": float(made.epsilon),
        "delta_target": float(parameters.delta(options.delta)),
        "delta": made.delta,
        "gamma": float(made.gamma),
        **own,
        "variance": made.variance,
        "pmf": made.pmf.tolist(),
    }
    upper_half = enumerate(answer["pmf"][made.support :])
    text = [
        f"Smallest support for epsilon {options.epsilon}, delta {options.delta}: D = {made.support}",
        *_lines({name: answer[name] for name in ("delta", "gamma", *own, "variance")}),
        "",
        "        z   p(z) = p(-z)",
        *_shortened([f"  {z:7d}   {_digits(p)}" for z, p in upper_half]),
    ]
    return Answer(answer, "\n".join(text))


def _design_for_cells(options: argparse.Namespace) -> Answer:
    cells = parameters.read_integer(options.cells, "cells")
    family = options.noise or many_cells.FAMILIES[0]
    made = many_cells.best(options.epsilon, options.delta, cells=cells, family=family)
    rivals = {many_cells.family(made.rival.noise): made.rival.variance} if made.rival else {}
    variances = {many_cells.family(made.noise): made.variance, **rivals}
    answer: dict[str, Any] = {
        "noise": next(iter(variances)),
        "support": made.noise.support,
        "rate": float(max(made.noise.rates)),
        "variance": made.variance,
        "standard_deviation": math.sqrt(made.variance),
        "variances": variances,
        "epsilon": float(made.promise.epsilon),
        "delta_target": float(parameters.delta(options.delta)),
        "delta": sampling.rounded_up(made.promise.delta),
        "cells": cells,
        "keysize": made.table.keysize,
    }
    shown = {"D": answer["support"], **{name: answer[name] for name in ("rate", "variance", "delta")}}
    text = [
        f"Noise of the least variance found for epsilon {options.epsilon}, delta {options.delta} of "
        f"{f'{cells} cells together' if cells > 1 else 'one cell'}: {answer['noise']}",
        *_lines({**shown, "standard deviation": answer["standard_deviation"]}),
        *(f"  {name} noise would need a variance of {_digits(value)}" for name, value in rivals.items()),
    ]
    return Answer(answer, "\n".join(text))


def _require(options: argparse.Namespace, *names: str) -> None:
    """Demand options that only some uses of a command need, in the words of the parser."""
    missing = [f"--{name}" for name in names if getattr(options, name.replace("-", "_")) is None]
    if missing:
        raise ValueError(f"the following arguments are required: {', '.join(missing)}")


def _refuse(options: argparse.Namespace, other: str, *names: str) -> None:
    for name in names:
        if getattr(options, name) is not None:
            raise ValueError(f"argument --{name}: not allowed with argument {other}")


def _privacy(options: argparse.Namespace) -> Answer:
    if options.table is not None:
        _refuse(options, "--table", "support", "variance", "gamma", "rate", "cells")
        return Answer(*tables.privacy_of_table(options.table, options.epsilon or []))
    _require(options, "support", "epsilon")
    if options.variance is options.gamma is options.rate is None:
        raise ValueError("one of the arguments --variance --gamma --rate is required")
    support, cells = (
        parameters.read_integer(options.support, "support"),
        parameters.read_integer(options.cells or "1", "cells"),
    )
    noise: AnyNoise
    if options.rate is not None:
        noise = Geometric(support, options.rate)
    elif options.gamma is not None:
        noise = Noise(support, options.gamma)
    else:
        noise = Noise.of_variance(support, options.variance)
    decay = "gamma" if isinstance(noise, Noise) else "rate"
    if cells == 1:
        deltas = privacy.delta(noise, options.epsilon)
    else:
        deltas = composition.delta(noise, options.epsilon, cells=cells)
    answer: dict[str, Any] = {
        "support": support,
        decay: float(max(noise.rates)),
        "variance": noise.variance,
        "profile": [
            {"epsilon": float(parameters.epsilon(level)), "delta": float(value)}
            for level, value in zip(options.epsilon, deltas, strict=True)
        ],
        "cells": cells,
    }
    text = [
        f"Noise on [-{support}, {support}]",
        *_lines({name: answer[name] for name in (decay, "variance")}),
        _plateau_line(noise)
        if cells == 1
        else f"  {cells} cells with one person in them, of independent noises",
        "",
        "  epsilon   delta",
        *(f"  {row['epsilon']:<9g} {_digits(row['delta'])}" for row in answer["profile"]),
    ]
    return Answer(answer, "\n".join(text))


def _plateau_line(noise: AnyNoise) -> str:
    onset = float(noise.loss(1 - noise.support))
    decades = float(noise.log_pmf[0]) / math.log(10)
    if decades < -300:
        return f"  delta falls until epsilon {onset:.6g}, to about 1e{decades:.0f}"
    height = privacy.plateau(noise).height
    return f"  delta falls until epsilon {onset:.6g} and stays at {_digits(height)} from there"


def _lookup(options: argparse.Namespace) -> tuple[design.Design, sampling.LookupTable]:
    support, keysize = (
        parameters.read_integer(options.support, "support"),
        parameters.read_keysize(options.keysize),
    )
    noise = design.proposition_3(options.epsilon, support=support, slack=options.slack)
    return noise, sampling.lookup_table(noise, keysize=keysize, rule=_rule(options, noise))


def _rule(options: argparse.Namespace, noise: design.Design) -> sampling.Rule:
    return symmetric.rule(noise.epsilon, name=options.rule)


def _table(options: argparse.Namespace) -> Answer:
    if options.output is not None:
        files.check(Path(options.output))
    made, table = _lookup(options)
    saved = _save(options, made, table.keysize)
    after, smallest = sampling.after_sampling(table), sampling.epsilon(table)
    answer: dict[str, Any] = {
        "keysize": table.keysize,
        "support": table.support,
        "cuts": list(table.cuts),
        "full_support": table.full_support,
        "bias": float(after.bias),
        "variance": float(after.variance),
        "epsilon_one_sided": parameters.finite(after.epsilon_one_sided),
        "epsilon_two_sided": parameters.finite(after.epsilon_two_sided),
        "epsilon_smallest": parameters.finite(smallest),
        "delta": float(after.delta),
        "rule": options.rule,
        **saved,
    }
    lost = "none" if table.full_support else ", ".join(map(str, table.lost))
    rows = zip(range(-table.support, table.support + 1), table.cuts, table.weights, strict=True)
    text = [
        f"Lookup table for {table.keysize} keys on [-{table.support}, {table.support}], {options.rule} rule",
        f"  {'':<18} {'design':<22} after sampling",
        f"  {'epsilon':<18} {_digits(float(made.epsilon)):<22} {after.epsilon_two_sided!r}",
        f"  {'  smallest':<18} {'':<22} {smallest!r}",
        f"  {'  one-sided':<18} {'':<22} {after.epsilon_one_sided!r}",
        f"  {'delta':<18} {_designed_delta(made):<22} {answer['delta']!r}",
        f"  {'bias':<18} {'0':<22} {_digits(answer['bias'])}",
        f"  {'variance':<18} {_digits(made.variance):<22} {_digits(answer['variance'])}",
        f"  {'values lost':<18} {'none':<22} {lost}",
        "",
        "        z                    cut                   keys",
        *_shortened([f"  {z:7d}   {cut:20d}   {weight:20d}" for z, cut, weight in rows]),
    ]
    if saved:
        ask = shlex.join([PROGRAM, "privacy", "--table", options.output])
        text += ["", f"The table of all counts is in {options.output}; its privacy: {ask}"]
    return Answer(answer, "\n".join(text))


def _save(options: argparse.Namespace, noise: design.Design, keysize: int) -> dict[str, str]:
    """Write the table of all counts if a file is named."""
    if options.output is None:
        if options.small_counts or options.layout:
            _require(options, "output")
        return {}
    _require(options, "small-counts")
    chosen, layout = options.small_counts, options.layout or table_files.LAYOUTS[0]
    table = perturbation_table.build(noise, keysize=keysize, small_counts=chosen, rule=_rule(options, noise))
    table_files.write(table, options.output, layout=layout)
    return {"output": options.output, "layout": layout, "small_counts": chosen}


def _designed_delta(made: design.Design) -> str:
    try:
        return _digits(made.delta)
    except ValueError:
        return f"below {privacy.DELTA_MIN}"


def _sample(options: argparse.Namespace) -> Answer:
    _, table = _lookup(options)
    keys = [parameters.read_integer(key, "key") for key in options.keys]
    samples = sampling.sample(table, keys).tolist()
    rows = (f"  {key:>20d}   {value:+d}" for key, value in zip(keys, samples, strict=True))
    return Answer({"samples": samples}, "\n".join([f"  {'key':>20}   noise", *rows]))


def _digits(value: float) -> str:
    return f"{value:.15g}"


def _lines(values: dict[str, Any]) -> list[str]:
    return [f"  {name:<18} {_digits(value)}" for name, value in values.items()]


def _shortened(rows: list[str], most: int = 60) -> list[str]:
    """Long tables show their two ends; --json has all."""
    if len(rows) <= most:
        return rows
    return [*rows[:10], f"  ... {len(rows) - 20} more (all with --json)", *rows[-10:]]
