"""Perturbation tables in files: what is read, what is written, what is refused."""

import itertools
import math
import random
import tracemalloc
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import decimals

from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.counts import small_counts, table_files, table_intervals
from tablebuilder_dp.counts.perturbation_table import PerturbationTable, Segments
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.sampling import LookupTable

# What the R package ptable 1.0.0 writes for D = 5, V = 3, js = 0 and default settings, in the layout for
# SAS. That for tau-argus is the same without the column p_int_lb.
SAS = """\
i;j;p;v;p_int_lb;p_int_ub
0; 0;1.00000000; 0;0.00000000;1.00000000
1; 0;0.38893783;-1;0.00000000;0.38893783
1; 1;0.38893782; 0;0.38893783;0.77787565
1; 2;0.12209348; 1;0.77787565;0.89996913
1; 3;0.05639415; 2;0.89996913;0.95636328
1; 4;0.02604806; 3;0.95636328;0.98241134
1; 5;0.01203143; 4;0.98241134;0.99444277
1; 6;0.00555723; 5;0.99444277;1.00000000
2; 0;0.22569905;-2;0.00000000;0.22569905
2; 1;0.22569905;-1;0.22569905;0.45139810
2; 2;0.22569906; 0;0.45139810;0.67709716
2; 3;0.13286506; 1;0.67709716;0.80996222
2; 4;0.08871749; 2;0.80996222;0.89867971
2; 5;0.05450076; 3;0.89867971;0.95318047
2; 6;0.03080282; 4;0.95318047;0.98398329
2; 7;0.01601671; 5;0.98398329;1.00000000
3; 0;0.07202982;-3;0.00000000;0.07202982
3; 1;0.13671708;-2;0.07202982;0.20874690
3; 2;0.19735139;-1;0.20874690;0.40609829
3; 3;0.21665293; 0;0.40609829;0.62275122
3; 4;0.18088226; 1;0.62275122;0.80363348
3; 5;0.11485088; 2;0.80363348;0.91848436
3; 6;0.05545999; 3;0.91848436;0.97394435
3; 7;0.02036723; 4;0.97394435;0.99431158
3; 8;0.00568842; 5;0.99431158;1.00000000
4; 0;0.01843920;-4;0.00000000;0.01843920
4; 1;0.05548388;-3;0.01843920;0.07392308
4; 2;0.12162104;-2;0.07392308;0.19554412
4; 3;0.19420816;-1;0.19554412;0.38975228
4; 4;0.22591402; 0;0.38975228;0.61566630
4; 5;0.19144140; 1;0.61566630;0.80710770
4; 6;0.11818040; 2;0.80710770;0.92528810
4; 7;0.05314618; 3;0.92528810;0.97843428
4; 8;0.01741067; 4;0.97843428;0.99584495
4; 9;0.00415505; 5;0.99584495;1.00000000
5; 0;0.00379186;-5;0.00000000;0.00379186
5; 1;0.01659093;-4;0.00379186;0.02038279
5; 2;0.05229263;-3;0.02038279;0.07267542
5; 3;0.11873037;-2;0.07267542;0.19140579
5; 4;0.19419346;-1;0.19140579;0.38559925
5; 5;0.22880150; 0;0.38559925;0.61440075
5; 6;0.19419346; 1;0.61440075;0.80859421
5; 7;0.11873037; 2;0.80859421;0.92732458
5; 8;0.05229263; 3;0.92732458;0.97961721
5; 9;0.01659093; 4;0.97961721;0.99620814
5;10;0.00379186; 5;0.99620814;1.00000000
"""
TAU_ARGUS = "".join(
    ";".join([*fields[:4], fields[5]]) for fields in (line.split(";") for line in SAS.splitlines(True))
)
SHORT = "i;j;p;v;p_int_ub\n0;0;1.00;0;1.00\n1;0;0.30;-1;0.30\n1;1;0.40;0;0.70\n1;2;0.30;1;1.00\n"
INTERVAL_LAYOUTS = ("tau-argus", "sas", "ptable")
ONS = '"pcv","ckey","pvalue"\n1,0,-1\n1,1,0\n1,2,1\n2,0,-2\n2,1,0\n2,2,2\n'


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


def table_of(folder: Path, text: str) -> PerturbationTable:
    path = folder / "table.txt"
    path.write_text(text, encoding="utf-8", newline="")
    return table_files.read(path)


def again(table: PerturbationTable, folder: Path, layout: str) -> PerturbationTable:
    table_files.write(table, folder / "again.txt", layout=layout)
    return table_files.read(folder / "again.txt")


def published(line: str) -> tuple[int, int, Fraction]:
    """i, j and p of a line."""
    count, value, mass = line.split(";")[:3]
    return int(count), int(value), Fraction(mass.strip())


@pytest.mark.parametrize(("text", "layout"), [(SAS, "sas"), (TAU_ARGUS, "tau-argus")])
def test_tables_of_ptable_are_read_exactly_and_written_byte_for_byte(
    tmp_path: Path, text: str, layout: str
) -> None:
    table = table_of(tmp_path, text)
    assert (table.keysize, table.support, len(table.rows), table.period) == (10**8, 5, 6, 1)
    for count, value, mass in map(published, text.splitlines()[1:]):
        assert Fraction(table.rows[count].weights[value - count + 5], 10**8) == mass
    keys = [0, 38893782, 38893783, 77787565, 99444277, 99999999]
    assert perturbation.sample(table, [1] * 6, keys).tolist() == [-1, -1, 0, 1, 5, 5]
    table_files.write(table, tmp_path / "again.txt", layout=layout)
    assert (tmp_path / "again.txt").read_bytes() == text.encode()


@pytest.mark.parametrize(
    "text",
    [
        TAU_ARGUS.replace("p_int_ub", "p_ij_ub"),
        TAU_ARGUS.replace(" ", ""),
        TAU_ARGUS.replace("\n", "\r\n"),
        "\ufeff" + TAU_ARGUS.rstrip("\n"),
        TAU_ARGUS.replace("0; 0;1.00000000; 0;1.00000000\n", ""),
        TAU_ARGUS.replace("1.00000000; 0", "1; 0"),
        TAU_ARGUS.replace(";0.22569906;", ";0.22569905;"),
        TAU_ARGUS.replace("i;j", '"i" ; "j"'),
        TAU_ARGUS.replace(";0.38893782;", ";0.39;").replace(";0.12209348;", ";1.2209E-01;"),
    ],
)
def test_the_same_table_in_other_words(tmp_path: Path, text: str) -> None:
    assert text != TAU_ARGUS
    assert table_of(tmp_path, text) == table_of(tmp_path, TAU_ARGUS)


@pytest.mark.parametrize("epsilon", ["0.3", "1", "1.7", "3"])
@pytest.mark.parametrize("first", [0, 1, 3, 5])
def test_the_guarantee_of_ptable_is_that_of_brute_force(folder: Path, first: int, epsilon: str) -> None:
    masses: dict[int, dict[int, float]] = {n: {} for n in range(6)}
    for count, value, mass in map(published, SAS.splitlines()[1:]):
        masses[count][value] = float(mass)
    masses[6] = {value + 1: mass for value, mass in masses[5].items()}
    worst = {}
    for n in range(first, 6):
        both = ((masses[n], masses[n + 1]), (masses[n + 1], masses[n]))
        growth = math.exp(float(epsilon))
        worst[n] = max(sum(max(0.0, p[y] - growth * q.get(y, 0.0)) for y in p) for p, q in both)
    found = perturbation.guarantee(table_of(folder, SAS), first=first, epsilon=epsilon)
    assert found.delta == pytest.approx(max(worst.values()), rel=1e-12)
    assert found.delta >= max(worst.values()) * (1 - 1e-12)
    assert worst[found.worst] == max(worst.values())


tables = st.builds(
    lambda support, gamma, keysize, way: perturbation.build(
        Noise(support, min(gamma, Fraction(400, support**2))), keysize=keysize, small_counts=way
    ),
    st.integers(1, 8),
    decimals(-2, 1),
    st.sampled_from([2, 4, 256, 2**13, 2**32, 2**64, 10, 1000, 10**8, 10**19]),
    st.sampled_from(small_counts.CHOICES),
)


@settings(max_examples=60)
@given(tables, st.sampled_from(INTERVAL_LAYOUTS))
def test_built_tables_are_read_as_they_were_written(
    folder: Path, table: PerturbationTable, layout: str
) -> None:
    assert again(table, folder, layout) == table


@st.composite
def rows(draw: st.DrawFn, keysize: int, support: int, least: int = 1) -> tuple[LookupTable, ...]:
    """Rows of any weights, the outermost and the inner ones zero as often as not."""
    found = []
    for count in range(draw(st.integers(least, 5))):
        places = min(count, support) + 1 + support
        cuts = sorted(draw(st.lists(st.integers(0, keysize), min_size=places - 1, max_size=places - 1)))
        blank = [0] * (2 * support + 1 - places)
        found.append(LookupTable(keysize, (*blank, *cuts, keysize)))
    return tuple(found)


@given(
    st.sampled_from([2, 4, 64, 2**40, 1000]),
    st.integers(1, 4),
    st.sampled_from(INTERVAL_LAYOUTS),
    st.data(),
)
def test_tables_with_values_lost_keep_their_support(
    folder: Path, keysize: int, support: int, layout: str, data: st.DataObject
) -> None:
    table = PerturbationTable(data.draw(rows(keysize, support)))
    if keysize == 1000 and not any(cut % 125 for row in table.rows for cut in row.cuts):
        with pytest.raises(ValueError, match="keysize must be 8 for cut points as coarse as these, got 1000"):
            again(table, folder, layout)
    else:
        assert again(table, folder, layout) == table


def test_a_noise_without_keys_has_no_line_unless_it_tells_the_support(tmp_path: Path) -> None:
    table = PerturbationTable((LookupTable(2, (0, 0, 2, 2, 2)), LookupTable(2, (0, 1, 1, 2, 2))))
    table_files.write(table, tmp_path / "a.txt", layout="tau-argus")
    lines = ["0;0;1.0; 0;1.0", "1;0;0.5;-1;0.5", "1;2;0.5; 1;1.0", "1;3;0.0; 2;1.0"]
    assert (tmp_path / "a.txt").read_text().splitlines()[1:] == lines
    told = PerturbationTable((LookupTable(2, (0, 2, 2)), LookupTable(2, (1, 2, 2))))
    table_files.write(told, tmp_path / "a.txt", layout="tau-argus")
    lines = ["0;0;1.0; 0;1.0", "1;0;0.5;-1;0.5", "1;1;0.5; 0;1.0"]
    assert (tmp_path / "a.txt").read_text().splitlines()[1:] == lines


def test_a_table_without_noise_is_a_table(tmp_path: Path) -> None:
    table = table_of(tmp_path, "i;j;p;v;p_int_ub\n0;0;1.00;0;1.00\n")
    assert table == PerturbationTable((LookupTable(4, (0, 4, 4)),))
    assert again(table, tmp_path, "sas") == table


@pytest.mark.parametrize(
    ("ends", "keysize"),
    [(["0.5", "1.0"], 2), (["0.25", "1.00"], 4), (["0.50", "1.00"], 4), (["0.3", "1.0"], 10)],
)
def test_keysize_follows_from_the_decimals(tmp_path: Path, ends: list[str], keysize: int) -> None:
    first = Fraction(ends[0])
    text = f"i;j;p;v;p_int_ub\n1;0;{float(first)};-1;{ends[0]}\n1;2;{float(1 - first)};1;{ends[1]}\n"
    table = table_of(tmp_path, text)
    assert table.keysize == keysize
    assert table.rows[1].cuts[0] == first * keysize


@given(st.integers(0, 1), st.integers(1, 5), st.integers(2, 7), st.randoms(use_true_random=False))
def test_every_key_of_an_ons_table_gets_the_noise_of_its_line(
    folder: Path, first: int, last: int, keysize: int, rng: random.Random
) -> None:
    cells = {
        (pcv, ckey): rng.randint(max(-pcv, -3), 3)
        for pcv in range(first, last + 1)
        for ckey in range(keysize)
    }
    lines = [f"{pcv},{ckey},{noise}\n" for (pcv, ckey), noise in cells.items()]
    rng.shuffle(lines)
    table = table_of(folder, "pcv,ckey,pvalue\n" + "".join(lines))
    counts, keys = zip(*cells, strict=True)
    assert perturbation.sample(table, counts, keys).tolist() == list(cells.values())
    assert (table.keysize, table.largest, table.support) == (
        keysize,
        last,
        max(1, *map(abs, cells.values())),
    )
    rises = all(cells[n, k] <= cells[n, k + 1] for n, k in cells if k + 1 < keysize)
    assert (table.segments == ()) is rises
    assert again(table, folder, "ons") == table
    for layout in INTERVAL_LAYOUTS:
        with pytest.raises(ValueError, match="table must be of period 1 for this layout, got 'period 0'"):
            table_files.write(table, folder / "no.txt", layout=layout)
    assert not (folder / "no.txt").exists()


def test_an_ons_table_up_to_750_serves_larger_counts_by_its_last_250(tmp_path: Path) -> None:
    rng = random.Random(3)  # noqa: S311
    noise = {(n, k): rng.randint(max(-n, -2), 2) for n in range(1, 751) for k in range(3)}
    table = table_of(
        tmp_path, ONS.split("\n")[0] + "\n" + "".join(f"{n},{k},{v}\n" for (n, k), v in noise.items())
    )
    assert (len(table.rows), table.period) == (751, 250)
    for n in (750, 751, 1000, 1001, 123456):
        place = n if n <= 750 else (n - 1) % 250 + 501
        assert [perturbation.sample(table, n, k) for k in range(3)] == [noise[place, k] for k in range(3)]
    assert again(table, tmp_path, "ons") == table


@pytest.mark.unmeasured
@settings(max_examples=15)
@given(st.integers(1, 6), decimals(-2, 0), st.sampled_from([16, 100]), st.sampled_from(small_counts.CHOICES))
def test_built_tables_serve_every_count_alike_in_the_ons_layout(
    folder: Path, support: int, gamma: Fraction, keysize: int, way: str
) -> None:
    table = perturbation.build(Noise(support, gamma), keysize=keysize, small_counts=way)
    found = again(table, folder, "ons")
    assert (len(found.rows), found.period, found.segments) == (751, 250, ())
    keys = np.arange(keysize)
    for count in (*range(support + 3), 501, 750, 751, 1000, 10**6):
        counts = np.full(keysize, count)
        assert np.array_equal(
            perturbation.sample(found, counts, keys), perturbation.sample(table, counts, keys)
        )
    assert (folder / "again.txt").read_text().splitlines()[1].startswith("0," if way == "clamped" else "1,")
    assert perturbation.guarantee(found, first=0, epsilon=1) == perturbation.guarantee(
        table, first=0, epsilon=1
    )


@pytest.mark.parametrize(("rows", "period"), [(1, 0), (751, 0), (751, 1), (6, 3), (503, 1), (800, 250)])
def test_tables_that_ons_software_would_serve_otherwise_are_refused(
    tmp_path: Path, rows: int, period: int
) -> None:
    table = PerturbationTable((LookupTable(2, (0, 1, 2)),) * rows, period)
    with pytest.raises(ValueError, match=f"table must be of a period .* got 'period {period}, {rows} rows'"):
        table_files.write(table, tmp_path / "no.txt", layout="ons")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("rows", "period"), [(502, 1), (600, 125), (5, 5), (751, 250), (750, 0), (752, 0)])
def test_other_periods_are_repeated_up_to_750(tmp_path: Path, rows: int, period: int) -> None:
    kinds = itertools.cycle([LookupTable(2, (0, 1, 2)), LookupTable(2, (0, 2, 2)), LookupTable(2, (0, 0, 2))])
    table = PerturbationTable(tuple(itertools.islice(kinds, rows)), period)
    found = again(table, tmp_path, "ons")
    assert (found.period, found.largest) == (250 if period else 0, table.largest)
    for count in (
        0,
        1,
        2,
        3,
        4,
        5,
        499,
        500,
        501,
        502,
        601,
        749,
        *((750, 751, 752, 1000, 1001) if period else ()),
    ):
        assert found.row(count) == table.row(count)


def test_rounding_is_no_protection_at_all(tmp_path: Path) -> None:
    noise = {n: 5 * round(n / 5) - n for n in range(1, 21)}
    text = "pcv,ckey,pvalue\n" + "".join(f"{n},{k},{z}\n" for n, z in noise.items() for k in range(4))
    table = table_of(tmp_path, text)
    assert (table.segments, table.support, table.largest) == ((), 2, 20)
    for epsilon in (None, "0.1", 5, 500):
        for first in (0, 1, 17):
            assert perturbation.guarantee(table, first=first, epsilon=epsilon).delta == 1
    assert perturbation.guarantee(table, first=0) == (0.0, 1.0, 2, 1.0)
    assert perturbation.alone(table, 1) == 0  # 1 and 2 are both published as 0


INTERVALS = {
    "1 of {} must be a header, one of i;j;p;v;p_int_ub or i;j;p;v;p_int_lb;p_int_ub or i,j,p,": "",
    "1 of {} must be a header, .* got none of them": "i;j;p\n0;0;1\n",
    "1 of {} must be a header, .* got none of them$": SHORT.replace(";", "|"),
    "1 of {} must be a header, one .* got none of them$": SHORT.replace("p_int_ub", "p_int_ub;p_ij_ub"),
    "1 of {} must be a header, one of i;j;.* got none of them$": SHORT.replace(";v", ";w"),
    "1 of {} must be followed by the lines of a table, got 'nothing'": "i;j;p;v;p_int_ub\n",
    "2 of {} must be 6 fields separated by ;, got '0;0;1.00;0;1.00'": SHORT.replace(
        "p_int", "p_int_lb;p_int"
    ),
    "2 of {} must be 5 fields separated by ;, got '0;0;1.00;0;0.00;1.00'": SHORT.replace(
        "0;1.00\n", "0;0.00;1.00\n"
    ),
    "4 of {} must be of a table for counts .*, got '1.5'": SHORT.replace("\n1;1", "\n1;1.5"),
    "4 of {} must be of integers i, j and v, got 'x'": SHORT.replace("\n1;1", "\nx;1"),
    "4 of {} must be of integers i, j and v, got '1_0'": SHORT.replace("\n1;1", "\n1_0;1"),
    "4 of {} must be of integers i, j and v, got ''": SHORT.replace("0.40;0;", "0.40; ;"),
    "4 of {} must be of decimals, not negative, such as 0.25 or .*, got 'nan'": SHORT.replace("0.70", "nan"),
    "4 of {} must be of decimals, not negative, such as 0.25 or .*, got '-0.70'": SHORT.replace(
        "0.70", "-0.70"
    ),
    "4 of {} must be of decimals, not negative, such as 0.25 or .*, got '-0.40'": SHORT.replace(
        "0.40", "-0.40"
    ),
    "4 of {} must be of decimals, not negative, such as 0.25 or .*, got 'inf'": SHORT.replace("0.40", "inf"),
    "2 of {} must be of at most 64 decimals in p_int_ub": SHORT.replace("0;1.00\n1", f"0;1.{'0' * 65}\n1"),
    "4 of {} must be of an interval that ends between its start and 1, got '0.20'": SHORT.replace(
        "0.70", "0.20"
    ),
    "4 of {} must be of an interval that ends between its start and 1, got '1.70'": SHORT.replace(
        "0.70", "1.70"
    ),
    "4 of {} must be of a p that is the length of its interval, got '0.42'": SHORT.replace("0.40", "0.42"),
    "4 of {} must be of a p that is the length of its interval, got '0.38'": SHORT.replace("0.40", "0.38"),
    "5 of {} must be of an interval that ends at 1, as the last of its i, got '0.99'": SHORT.replace(
        "1;2;0.30;1;1.00", "1;2;0.29;1;0.99"
    ),
    "2 of {} must be of an interval that ends at 1, as the last of its i, got '0.90'": SHORT.replace(
        "0;0;1.00;0;1.00", "0;0;0.90;0;0.90"
    ),
    "2 of {} must be of a p that is the length .* got '0.3'": SHORT.replace("0;0;1.00", "0;0;0.3"),
    "2 of {} must be of a p that is the length of its interval, got '0'": SHORT.replace("0;0;1.00", "0;0;0"),
    "3 of {} must be of a p that is the length of its interval, got '0'": SHORT.replace("0.30;-1", "0;-1"),
    "4 of {} must be of a p that is the length of its interval, got '4e-2'": SHORT.replace("0.40", "4e-2"),
    "3 of {} must be 5 fields separated by ,, got": SHORT.replace(";", ",").replace("0.30,", "0,30,", 1),
    "4 of {} must be of a j that is i \\+ v and not negative, got '1;2;0.40;0;0.70'": SHORT.replace(
        "\n1;1;", "\n1;2;"
    ),
    "3 of {} must be of a j that is i \\+ v and not negative": SHORT.replace(
        "\n1;0;0.30;-1", "\n1;-1;0.30;-2"
    ),
    "3 of {} must be of the same i as the line before or the next, from 0 or 1 on, got 2": SHORT.replace(
        "\n1;", "\n2;"
    ),
    "2 of {} must be of the same i .* got 2": "i;j;p;v;p_int_ub\n2;2;1.0;0;1.0\n",
    "2 of {} must be of the same i .* got -1": "i;j;p;v;p_int_ub\n-1;0;1.0;1;1.0\n",
    "6 of {} must be of the same i .* got 0": SHORT + "0;0;1.00;0;1.00\n",
    "3 of {} must be of at most 19 decimals or a multiple of 2\\^-20, got '0.3": (
        f"i;j;p;v;p_int_ub\n0;0;1;0;1.{'0' * 20}\n1;0;0.3;-1;0.3{'0' * 19}\n1;2;0.7;1;1.{'0' * 20}\n"
    ),
    "4 of {} must be of an interval that starts where the one before ends, got '0.38893782'": SAS.replace(
        " 0;0.38893783", " 0;0.38893782"
    ),
    "3 of {} must be of an interval that starts where the one before ends, got '0.00000001'": SAS.replace(
        "-1;0.00000000", "-1;0.00000001", 1
    ),
    "2 of {} must be of noise from -4999999 to 4999999 in a table of 1 counts, got 5000000": (
        "i;j;p;v;p_int_ub\n0;5000000;1.0;5000000;1.0\n"
    ),
}
COMPLETE = "must be the last of a table with each pcv"
ONS_TABLES = {
    "1 of {} must be followed by the lines of a table, got 'nothing'": "pcv,ckey,pvalue\n",
    "3 of {} must be integers pcv, ckey, pvalue, got '1,1'": ONS.replace("1,1,0", "1,1"),
    "3 of {} must be integers pcv, ckey, pvalue, got '1,1,0,0'": ONS.replace("1,1,0", "1,1,0,0"),
    "3 of {} must be integers pcv, ckey, pvalue, got '1,1,x'": ONS.replace("1,1,0", "1,1,x"),
    "3 of {} must be integers pcv, ckey, pvalue, got '1,1,nan'": ONS.replace("1,1,0", "1,1,nan"),
    "3 of {} must be integers pcv, ckey, pvalue, got '1,1,0.0'": ONS.replace("1,1,0", "1,1,0.0"),
    "3 of {} must be integers pcv, ckey, pvalue, got '1,1,'": ONS.replace("1,1,0", "1,1,"),
    "4 of {} must be the first after the last, as a line before it is blank, got '1,1,0'": ONS.replace(
        "\n1,1,0", "\n\n1,1,0"
    ),
    "3 of {} must be integers pcv": ONS.replace("1,1,0", f"1,1,{'0' * 2000}"),
    "3 of {} must be integers": ONS.replace("1,1,0", "1,1,9223372036854775808"),
    "5 of {} must be of pcv and ckey that are not negative, got '-2,0,2'": ONS.replace("2,0,-2", "-2,0,2"),
    "5 of {} must be of pcv and ckey that are not negative, got '2,-1,2'": ONS.replace("2,0,-2", "2,-1,2"),
    "5 of {} must be of a pcv \\+ pvalue that is not negative, got '2,0,-3'": ONS.replace("2,0,-2", "2,0,-3"),
    "6 of {} must be of another pcv and ckey than those before, got '2,0,0'": ONS.replace("2,1,0", "2,0,0"),
    f"6 of {{}} {COMPLETE} 1 to 2 and ckey 0 to 2, got 'none for 2,1'": ONS.replace("2,1,0\n", ""),
    f"6 of {{}} {COMPLETE} 1 to 2 and ckey 0 to 2, got 'none for 2,2'": ONS.replace("2,2,2\n", ""),
    f"7 of {{}} {COMPLETE} 1 to 4 and ckey 0 to 2, got 'none for 2,0'": ONS.replace("\n2,", "\n4,"),
    f"4 of {{}} {COMPLETE} 1 to 2 and ckey 0 to 2, got 'none for 1,0'": "\n".join(
        [*ONS.split("\n")[:1], *ONS.split("\n")[4:]]
    ),
    f"7 of {{}} {COMPLETE} 1 to 999999999999999 and ckey 0 to 2, got 'none for 2,0'": ONS.replace(
        "\n2,", "\n999999999999999,"
    ),
    "2 of {} must be the last of at least 1 count above 0 and 2 keys, got 'pcv 1, 1 keys'": (
        "pcv,ckey,pvalue\n1,0,0\n"
    ),
    "3 of {} must be the last of at least 1 count above 0 and 2 keys, got 'pcv 0, 2 keys'": (
        "pcv,ckey,pvalue\n0,0,0\n0,1,0\n"
    ),
    "7 of {} must be of noise from -1666666 to 1666666 in a table of 3 counts, got 9999999": ONS.replace(
        "2,2,2", "2,2,9999999"
    ),
}


@pytest.mark.parametrize(
    ("message", "text"), [*INTERVALS.items(), *ONS_TABLES.items()], ids=[*INTERVALS, *ONS_TABLES]
)
def test_a_malformed_file_is_refused_with_the_line(tmp_path: Path, message: str, text: str) -> None:
    with pytest.raises(ValueError, match="^line " + message.format(tmp_path / "table.txt")) as error:
        table_of(tmp_path, text)
    assert len(str(error.value).splitlines()) == 1


def test_what_is_not_utf_8_is_refused_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_bytes(SHORT.encode().replace(b"0.40", b"0.\xff0"))
    with pytest.raises(ValueError, match=r"line 4 of .* got '0.\\\\xff0'"):
        table_files.read(path)
    for content in (SHORT.encode("utf-16"), b"\x89PNG\r\n\x1a\n\x00", bytes(10**6)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="line 1 of .* must be a header"):
            table_files.read(path)


def test_a_missing_file_and_a_folder_are_the_systems_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        table_files.read(tmp_path / "none.txt")
    with pytest.raises(IsADirectoryError):
        table_files.read(tmp_path)


def test_files_of_too_many_lines_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_intervals, "LINES_MAX", 6)
    lines = ["pcv,ckey,pvalue\n", *(f"1,{key},0\n" for key in range(7))]
    assert table_of(tmp_path, "".join(lines[:-1])).keysize == 6
    with pytest.raises(ValueError, match="line 8 of .* must be the last, as a table has at most 6 lines"):
        table_of(tmp_path, "".join(lines))
    table = table_of(tmp_path, SHORT)
    table_files.write(table, tmp_path / "a.txt", layout="sas")
    monkeypatch.setattr(table_intervals, "LINES_MAX", 5)
    with pytest.raises(
        ValueError, match=r"table must be of at most 5 lines and places \(counts times 2D \+ 1\), got 6"
    ):
        table_files.write(table, tmp_path / "b.txt", layout="sas")
    wide = perturbation.build(Noise(3, 1), keysize=2**14)
    with pytest.raises(
        ValueError,
        match="table must be of at most 10000000 lines, counts times keys, in the layout ons, got 12288000",
    ):
        table_files.write(wide, tmp_path / "b.txt", layout="ons")
    assert not (tmp_path / "b.txt").exists()


def test_a_line_without_end_is_not_read_whole(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("pcv,ckey,pvalue\n" + "1" * 10**7)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="line 2 of .* must be integers pcv"):
            table_files.read(tmp_path / "long.txt")
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    table = table_of(tmp_path, SHORT)
    with pytest.raises(ValueError, match="layout must be one of tau-argus, sas, ptable, ons, got 'csv'"):
        table_files.write(table, tmp_path / "a.txt", layout="csv")
    with pytest.raises(TypeError, match="table must be a PerturbationTable, got None"):
        table_files.write(None, tmp_path / "a.txt", layout="sas")  # type: ignore[arg-type]
    odd = perturbation.requantised(table, 12)
    with pytest.raises(ValueError, match="keysize must be a power of 2 or of 10 for this layout .* got 12"):
        table_files.write(odd, tmp_path / "a.txt", layout="sas")
    coarse = PerturbationTable((LookupTable(100, (0, 100, 100)), LookupTable(100, (25, 75, 100))))
    with pytest.raises(ValueError, match="keysize must be 4 for cut points as coarse as these, got 100"):
        table_files.write(coarse, tmp_path / "a.txt", layout="sas")
    with pytest.raises(ValueError, match="output must be in a folder that exists"):
        table_files.write(table, tmp_path / "none" / "a.txt", layout="sas")
    assert not (tmp_path / "a.txt").exists()


@given(st.integers(2, 60), st.integers(2, 200), st.data())
def test_a_requantised_table_compares_fractions_of_the_keysize(
    old: int, new: int, data: st.DataObject
) -> None:
    table = PerturbationTable(data.draw(rows(old, 2)))
    found = perturbation.requantised(table, new)
    assert (found.keysize, len(found.rows), found.period) == (new, len(table.rows), 1)
    for count, row in enumerate(table.rows):
        expected = [
            next(z for z, cut in enumerate(row.cuts, -2) if Fraction(key, new) < Fraction(cut, old))
            for key in range(new)
        ]
        assert perturbation.sample(found, [count] * new, range(new)).tolist() == expected


@st.composite
def shuffled(draw: st.DrawFn, keysize: int, support: int) -> PerturbationTable:
    """Rows of any noise in any order, the same noise as often as it comes."""
    orders = []
    for count in range(draw(st.integers(1, 4))):
        inner = sorted(draw(st.lists(st.integers(0, keysize), max_size=6)))
        noise = st.integers(-min(count, support), support)
        drawn = draw(st.lists(noise, min_size=len(inner) + 1, max_size=len(inner) + 1))
        orders.append(Segments((*inner, keysize), tuple(drawn)))
    return PerturbationTable.of_segments(orders, keysize=keysize, support=support)


def around(table: PerturbationTable) -> list[tuple[int, int]]:
    """Every count with the keys beside each end."""
    return [
        (count, key)
        for count in range(len(table.rows))
        for end in (0, *table.order(count).ends)
        for key in (end - 1, end, end + 1)
        if 0 <= key < table.keysize
    ]


def noise_around(table: PerturbationTable, places: list[tuple[int, int]]) -> list[int]:
    found: list[int] = perturbation.sample(table, *zip(*places, strict=True)).tolist()
    return found


@given(st.sampled_from([7, 256, 10**8, 2**32, 2**64]), st.integers(1, 3), st.data())
def test_any_order_is_looked_up_by_the_first_end_above_the_key(
    keysize: int, support: int, data: st.DataObject
) -> None:
    table = data.draw(shuffled(keysize, support))
    places = around(table)
    by_hand = [
        next(z for end, z in zip(*table.order(count), strict=True) if key < end) for count, key in places
    ]
    assert noise_around(table, places) == by_hand
    for count, row in enumerate(table.rows):
        assert +table.order(count).weights == +Counter(dict(enumerate(row.weights, -support)))


@given(st.sampled_from([2, 256, 2**40, 10, 10**8]), st.sampled_from(INTERVAL_LAYOUTS), st.data())
def test_any_order_is_read_as_it_was_written(
    folder: Path, keysize: int, layout: str, data: st.DataObject
) -> None:
    table = data.draw(shuffled(keysize, 3))
    ends = [end for count in range(len(table.rows)) for end in table.order(count).ends]
    if keysize % 10 or any(end % 5 ** (len(str(keysize)) - 1) for end in ends):
        assert again(table, folder, layout) == table
    else:
        with pytest.raises(ValueError, match="for cut points as coarse as these"):
            again(table, folder, layout)


@given(st.integers(2, 60), st.integers(2, 200), st.data())
def test_any_order_is_requantised_by_fractions_of_the_keysize(
    old: int, new: int, data: st.DataObject
) -> None:
    table = data.draw(shuffled(old, 2))
    found = perturbation.requantised(table, new)
    assert (found.keysize, len(found.rows), found.period, found.support) == (new, len(table.rows), 1, 2)
    for count in range(len(table.rows)):
        order = list(zip(*table.order(count), strict=True))
        meant = [next(z for end, z in order if key * old < end * new) for key in range(new)]
        assert perturbation.sample(found, [count] * new, range(new)).tolist() == meant
    assert perturbation.requantised(table, old) is table


def test_orders_that_serve_alike_are_equal() -> None:
    zero = Segments((4,), (0,))
    split = PerturbationTable.of_segments([zero, Segments((1, 2, 2, 4), (-1, 0, 1, 0))], keysize=4, support=1)
    assert split == PerturbationTable((LookupTable(4, (0, 4, 4)), LookupTable(4, (1, 4, 4))))
    turned = PerturbationTable.of_segments([zero, Segments((3, 4), (0, -1))], keysize=4, support=1)
    assert (turned.rows, turned.segments) == (split.rows, (zero, Segments((3, 4), (0, -1))))
    assert turned != split
    for wrong in (Segments((2, 4), (0, -1)), Segments((5, 4), (0, -1)), Segments((3, 4, 4), (0, -1))):
        with pytest.raises(ValueError, match="segments must be of ends that never fall, each noise for as"):
            PerturbationTable(turned.rows, segments=(zero, wrong))
    refused: Any = None
    with pytest.raises(TypeError, match="table must be a PerturbationTable"):
        perturbation.requantised(refused, 6)


# As they are met: the first blocks of files, where the last block stands for larger counts too.

# tau-argus, data/cellkey/Magnitude/ptab_freq.txt: decimals not padded.
UNPADDED = """\
i;j;p;v;p_int_ub
0;0;1;0;1
1;0;0.73446954;-1;0.73446954
1;3;0.13672019;2;0.87118973
1;4;0.07279631;3;0.94398604
1;5;0.03742956;4;0.9814156
1;6;0.0185844;5;1
"""
# tau-argus, data/cellkey/Frequency/tau_testW_ptable.txt: quoted names, p finer than the ends.
QUOTED = """\
"i";"j";"p";"v";"p_ij_ub"
0;0;1;0;1
1;0;0.775078850966306;-1;0.775078851
1;3;0.0873643732150699;2;0.8624432242
1;4;0.0507561027140072;3;0.9131993269
1;5;0.0323385880305859;4;0.9455379149
1;6;0.0225960604169355;5;0.9681339753
1;7;0.0173150304125461;6;0.9854490058
1;8;0.0145509942445495;7;1
"""
# tau-argus, data/cellkey/Frequency/20160511_szenario_5a.txt: p with exponents.
EXPONENTS = """\
i;j;p_ij;v;p_ij_ub
0;0;1;0;1
1;0;0.666749933;-1;0.666749933
1;3;0.333000567;2;0.9997505
1;4;0.0002493;3;0.9999998
1;5;1.00E-07;4;0.9999999
1;6;1.00E-07;5;1
"""
# ptable 1.0.0 after modify_cnt_ptable(), exported for SAS: intervals split and shuffled.
MODIFIED = """\
i;j;p;v;p_int_lb;p_int_ub
0; 0;1.00000000; 0;0.00000000;1.00000000
1; 0;0.20000000;-1;0.00000000;0.20000000
1; 5;0.03742956; 4;0.20000000;0.23742956
1; 0;0.20000000;-1;0.23742956;0.43742956
1; 4;0.07279631; 3;0.43742956;0.51022587
1; 3;0.13672019; 2;0.51022587;0.64694606
1; 6;0.01858440; 5;0.64694606;0.66553046
1; 0;0.13446954;-1;0.66553046;0.80000000
1; 0;0.20000000;-1;0.80000000;1.00000000
"""
# ptable 1.0.0, the slot pTable of the same table before, written as CSV.
SLOT = """\
i,j,p,v,p_int_lb,p_int_ub,type
0,0,1,0,0,1,all
1,0,0.73446954,-1,0,0.73446954,all
1,3,0.13672019,2,0.73446954,0.87118973,all
1,4,0.07279631,3,0.87118973,0.94398604,all
1,5,0.0374295600000001,4,0.94398604,0.9814156,all
1,6,0.0185843999999999,5,0.9814156,1,all
"""


def by_lines(text: str, count: int, share: Fraction) -> int:
    """As tau-argus looks up: the noise of the first line of a count whose upper end is above the key."""
    separator = ";" if ";" in text else ","
    head, *lines = ([part.strip(' "') for part in line.split(separator)] for line in text.splitlines())
    last = next(place for place, name in enumerate(head) if name.endswith("_ub"))
    return next(
        int(line[3]) for line in lines if int(line[0]) == min(count, 1) and share < Fraction(line[last])
    )


@pytest.mark.parametrize("text", [UNPADDED, QUOTED, EXPONENTS, MODIFIED, SLOT])
def test_tables_as_they_are_met_serve_each_key_as_their_lines_say(tmp_path: Path, text: str) -> None:
    table = table_of(tmp_path, text)
    assert table.keysize == {QUOTED: 10**10, EXPONENTS: 10**9}.get(text, 10**8)
    places = [*around(table), (7, 0), (7, table.keysize - 1)]
    meant = [by_lines(text, count, Fraction(key, table.keysize)) for count, key in places]
    assert noise_around(table, places) == meant
    for layout in INTERVAL_LAYOUTS:
        written = again(table, tmp_path, layout)
        assert written == table
        assert noise_around(written, places) == meant


def test_one_table_in_five_files(tmp_path: Path) -> None:
    slot = table_of(tmp_path, SLOT)
    named = SLOT.replace("i,j", '"i","j"').replace("all", '"all"')
    rows = "".join(f'"{place or ""}",{line}' for place, line in enumerate(named.splitlines(True)))
    older = UNPADDED.replace("p;", "p_ij;").replace("p_int_ub", "p_ij_ub")
    for text in (UNPADDED, older, UNPADDED.replace("1;0;1\n", "1.0;0;1e+00\n"), rows, SLOT.replace(",", ";")):
        assert table_of(tmp_path, text) == slot
    modified = table_of(tmp_path, MODIFIED)
    assert modified.rows == slot.rows
    assert modified.segments[1].noise == (-1, 4, -1, 3, 2, 5, -1)
    for first, epsilon in ((0, None), (0, "1"), (1, "0.5")):
        assert perturbation.guarantee(modified, first=first, epsilon=epsilon) == perturbation.guarantee(
            slot, first=first, epsilon=epsilon
        )
    alone = 0.73446954 + 0.13672019  # only 1 of the counts 1 and 2 is published as 0 or 3
    assert perturbation.guarantee(slot, first=1, epsilon=1).delta == pytest.approx(alone, rel=1e-12)


# ptable 1.0.0 and tau-argus (data/cellkey/Magnitude/ptab_savings_all.txt) on magnitudes.
MAGNITUDES = {
    "4 of {} .* got '0.5'": (
        "i;j;p;v;p_int_ub;type\n0;0;1;0;1;all\n1;0;0.24006614;-1;0.24006614;all\n"
        "1;0.5;0.24006614;-0.5;0.48013228;all\n1;1;0.51986772;0;1;all\n"
    ),
    "2 of {} .* got '0;0;1;0;1;even'": "i;j;p;v;p_int_ub;type\n0;0;1;0;1;even\n",
    "3 of {} .* got '1,1,1,0,0,1,odd'": SLOT.split("\n1,")[0] + "\n1,1,1,0,0,1,odd\n",
    "4 of {} .* got 5": "i;j;p;v;p_int_ub;type\n0;0;1;0;1;all\n1;1;1;0;1;all\n5;5;1;0;1;all\n",
}


@pytest.mark.parametrize(("message", "text"), MAGNITUDES.items(), ids=MAGNITUDES)
def test_tables_for_magnitudes_are_refused_by_name(tmp_path: Path, message: str, text: str) -> None:
    named = message.format(tmp_path / "table.txt").replace(
        " .* ", r" must be of a table for counts \(.*\), not for magnitudes, "
    )
    with pytest.raises(ValueError, match=f"^line {named}$"):
        table_of(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        ONS + "\n\n",
        ONS.replace(",", ";"),
        ONS.replace(",", "\t"),
        ONS.upper(),
        "".join(f"{line.split(',')[2]},{line.rpartition(',')[0]}\n" for line in ONS.splitlines()),
        "".join(f"{name},{line}\n" for name, line in zip(["", *"123456789"], ONS.splitlines(), strict=False)),
    ],
)
def test_an_ons_table_may_be_written_in_other_ways(text: str, tmp_path: Path) -> None:
    """As pandas and R write a table: with row names, other separators, columns in another order."""
    (tmp_path / "usual.csv").write_text(ONS)
    (tmp_path / "other.csv").write_text(text)
    assert table_files.read(tmp_path / "other.csv") == table_files.read(tmp_path / "usual.csv")


@pytest.mark.parametrize("change", [(".", ","), ("0.", "."), (";", "\t")])
def test_intervals_may_be_written_in_other_ways(change: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "usual.csv").write_text(SHORT)
    (tmp_path / "other.csv").write_text(SHORT.replace(*change))
    assert SHORT.replace(*change) != SHORT
    assert table_files.read(tmp_path / "other.csv") == table_files.read(tmp_path / "usual.csv")
