"""The explorer in a notebook: fields to type in, sliders to drag, and at once what follows from them.

The texts are what counts: they are exact decimals, and a slider only writes rounded ones. All numbers come
from `compendium.studies.explorer`; here they are only laid out.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from fractions import Fraction
from html import escape
from math import log2, log10
from typing import Any
from urllib.parse import quote

import ipywidgets

from compendium.figures import explorer as pictures
from compendium.figures.explorer import short
from compendium.studies import explorer, explorer_words
from compendium.studies.explorer import LIMITS, Explored, Settings
from compendium.studies.explorer_words import texts
from tablebuilder_dp.support import parameters

RULES = {"the paper's ceilings": "ceiling", "symmetric weights": "symmetric"}
STEPS = 50
"""A slider has so many steps for a power of ten of ε, or for a slack of 1."""

ROWS = (
    ("smallest support D* for the wanted (ε, δ)", "best_support", ""),
    ("support D", "support", ""),
    ("γ", "gamma", ""),
    ("values of [−D, D] that no key gives", "", "lost_values"),
    ("variance", "variance", "variance_table"),
    ("bias", "", "bias"),
    ("δ at the wanted ε, the larger of both directions", "delta", "delta_table"),
    ("where δ becomes flat; two-sided ε<sup>Q</sup>", "plateau_onset", "epsilon_two_sided"),
    ("one-sided ε<sup>Q</sup> of the paper", "", "epsilon_one_sided"),
    ("δ<sup>Q</sup> of the paper, the larger end", "", "delta_q"),
    ("least ε that goes with δ<sup>Q</sup>", "", "epsilon_smallest"),
)
"""What is shown of `explorer.numbers`: of the noise, and of its lookup table."""


class Field:
    """A setting: a text that says exactly what is chosen, a slider that writes it, and room for a problem."""

    def __init__(self, label: str, text: str, slider: Any, write: Callable[[int], str], hint: str) -> None:
        wide = ipywidgets.Layout(width="15em", flex="0 0 15em")
        self.text = ipywidgets.Text(
            value=text, description=label, continuous_update=False, layout=wide, tooltip=hint
        )
        self.slider = slider
        self.message = ipywidgets.HTML()
        self._write = write
        self._follows = False
        slider.observe(self._moved, "value")

    def _moved(self, change: Any) -> None:
        if not self._follows:
            self.text.value = self._write(change["new"])

    def follow(self, place: float) -> None:
        """Put the slider where the text is, as near as it can be; the text stays as it was typed."""
        self._follows = True
        self.slider.value = round(place)
        self._follows = False


def _slider(low: int, high: int) -> Any:
    """A slider over whole numbers, which alone a browser returns unchanged when Python moves them."""
    fixed = ipywidgets.Layout(width="18em", flex="0 0 18em")  # else a long message would squeeze it
    return ipywidgets.IntSlider(min=low, max=high, readout=False, layout=fixed)


class Explorer:
    """Controls, pictures and numbers of one design and its lookup table, for the end of a cell.

    ``settings`` and ``explored`` are those of the last input that had an answer.

    >>> Explorer(Settings(keysize=2**16))
    Explorer(epsilon=0.5, delta=1e-4, support=auto, slack=0.1, keysize=2^16, rule=ceiling)
    """

    def __init__(self, settings: Settings | None = None) -> None:
        typed = texts(settings or Settings())
        ends = (round(STEPS * log10(Fraction(limit))) for limit in LIMITS["epsilon"])
        sliders: dict[str, tuple[str, Any, Callable[[int], str]]] = {
            "epsilon": ("ε", _slider(*ends), lambda step: short(10 ** (step / STEPS))),
            "delta": ("δ", _slider(-12, -1), lambda power: short(10**power)),
            "support": ("D", _slider(1, 200), str),
            "slack": ("slack", _slider(0, STEPS), lambda step: short(step / STEPS)),
            "keysize": ("KEYSIZE", _slider(1, 64), "2^{}".format),
        }
        hints = {"support": "a number, or auto for the smallest support D*", "keysize": "such as 2^32"}
        self.fields = {
            name: Field(label, typed[name], slider, write, hints.get(name, "a decimal number"))
            for name, (label, slider, write) in sliders.items()
        }
        self.rule = ipywidgets.Dropdown(options=RULES, value=typed["rule"], description="rule")
        self.best = ipywidgets.Button(description="take D*", layout=ipywidgets.Layout(width="6em"))
        self.best.on_click(lambda _: setattr(self.fields["support"].text, "value", "auto"))
        self.messages = {name: field.message for name, field in self.fields.items()}
        self.messages["rule"] = ipywidgets.HTML()
        self.stale, self.verdict, self.numbers, self.lines = (ipywidgets.HTML() for _ in range(4))
        self.noise, self.curve = (ipywidgets.HTML(layout=ipywidgets.Layout(max_width="100%")) for _ in "ab")
        self._drawn: dict[str, Any] = {}
        for control in (*(field.text for field in self.fields.values()), self.rule):
            control.observe(self._update, "value")
        self._show(explorer.explore(explorer.read(typed)))
        self.box = ipywidgets.VBox(self._layout())

    def _layout(self) -> list[Any]:
        rows = []
        for name, field in self.fields.items():
            extra = [self.best] if name == "support" else []
            rows.append(_row(field.text, field.slider, *extra, field.message))
        rows.append(_row(self.rule, self.messages["rule"]))
        return [*rows, self.stale, self.verdict, _row(self.noise, self.curve), self.numbers, self.lines]

    def __repr__(self) -> str:
        return f"Explorer({self._line()})"

    def _line(self) -> str:
        return ", ".join(f"{name}={text}" for name, text in texts(self.settings).items())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        return {**self.box._repr_mimebundle_(**options), "text/plain": repr(self)}

    @property
    def settings(self) -> Settings:
        """What is shown: the last settings that had an answer."""
        return self.explored.settings

    @property
    def typed(self) -> dict[str, str]:
        """What stands in the fields, right or wrong."""
        found = {name: field.text.value.strip() for name, field in self.fields.items()}
        return {**found, "rule": self.rule.value}

    def _update(self, _: Any) -> None:
        """Show what follows from the fields, or what is wrong with them beside the last that was right."""
        problems = {}
        for name, text in self.typed.items():
            try:
                explorer.read({name: text})
            except (TypeError, ValueError) as error:
                problems[name] = str(error)
        if not problems:
            try:
                self._show(explorer.explore(explorer.read(self.typed)))
            except (ValueError, ArithmeticError) as error:
                name = str(error).split()[0]
                problems[name if name in self.messages else "rule"] = str(error)
        for name, message in self.messages.items():
            message.value = f"<b>{escape(problems[name])}</b>" if name in problems else ""
        self.stale.value = ""
        if problems:
            words = f"No answer for these settings. Below is the last that had one: {self._line()}."
            self.stale.value = f"<b>{escape(words)}</b>"
            self.lines.value = ""  # nobody shall take home a table beside settings that are not its own

    def _show(self, found: Explored) -> None:
        numbers = explorer.numbers(found)  # first, as what has no numbers is not shown
        self.explored = found
        noise = (found.support, found.gamma, found.table)
        wanted = (found.design.epsilon, parameters.delta(found.settings.delta))
        alt = f"A bell-shaped noise and its lookup table. No key gives: {numbers['lost_values']}."
        self._draw("noise", noise, pictures.noise_axes, alt)
        alt = f"δ falls with ε; the noise's stays at {numbers['delta']} from {numbers['plateau_onset']} on."
        self._draw("curve", (*noise, *wanted), pictures.curve_axes, alt)
        self.verdict.value = f"<b>{escape(explorer_words.verdict(found))}</b>"
        self.numbers.value = _table(numbers)
        self.lines.value = _lines(found)
        self.fields["epsilon"].follow(STEPS * log10(wanted[0]))
        self.fields["delta"].follow(log10(wanted[1]))
        self.fields["support"].follow(found.support)
        self.fields["slack"].follow(float(STEPS * found.design.slack))
        self.fields["keysize"].follow(log2(found.table.keysize))

    def _draw(self, name: str, shown: Any, draw: Callable[[Any, Explored], None], alt: str) -> None:
        """Draw anew what has changed."""
        if self._drawn.get(name) != shown:
            picture = b64encode(pictures.live(draw, self.explored)).decode()
            size = 'width="440" style="max-width: 100%"'
            html = f'<img alt="{escape(alt)}" {size} src="data:image/png;base64,{picture}">'
            getattr(self, name).value = html
            self._drawn[name] = shown


def _row(*parts: Any) -> Any:
    return ipywidgets.HBox(parts, layout=ipywidgets.Layout(flex_flow="row wrap"))


def _table(numbers: Mapping[str, str]) -> str:
    rows = [("", "<b>noise</b>", "<b>lookup table</b>")]
    rows += [(label, numbers.get(noise, ""), numbers.get(table, "")) for label, noise, table in ROWS]
    cells = ("".join(f"<td style='padding-right:2em'>{cell}</td>" for cell in row) for row in rows)
    return f"<table style='line-height:1.6'><tr>{'</tr><tr>'.join(cells)}</tr></table>"


def _lines(found: Explored) -> str:
    """The table to take home, and the lines that make it again."""
    typed = texts(found.settings)
    name = f"lookup-table-D{found.support}-K{found.table.keysize}-{found.settings.rule}.csv"
    data = f"data:text/csv;charset=utf-8,{quote(explorer.csv(found))}"
    again = (explorer_words.command(found), explorer_words.python(typed), explorer_words.address(typed))
    shown = "".join(f"<pre style='white-space:pre-wrap'>{escape(line)}</pre>" for line in again)
    return (
        f"<a download='{name}' href='{data}' style='text-decoration:underline'>Download the lookup table as "
        f"CSV</a>, or make it again in a terminal, in Python, or on the web site's explorer page:{shown}"
    )
