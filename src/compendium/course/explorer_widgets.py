"""The explorer in a notebook: fields to type in, sliders to drag, and at once what follows from them.

What is typed counts: it is an exact decimal, and a slider only writes round ones. All numbers come from
`compendium.studies.explorer` and all words from its ``explorer.toml``, as on the explorer's page; here they
are only laid out.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from html import escape
from itertools import groupby
from typing import Any
from urllib.parse import quote

import ipywidgets

from compendium.figures import explorer as pictures
from compendium.studies import explorer, explorer_words, phrases
from compendium.studies.explorer import FIELDS, Explored, Settings, say
from compendium.studies.explorer_words import ladder, nearest, texts
from tablebuilder_dp.support import parameters

LABELS = {"description_width": "11em"}


class Field:
    """A setting: a text that says exactly what is chosen, a slider that writes it, and room for a problem.

    The slider counts the rungs of the setting's ladder: whole numbers alone come back from a browser as they
    were when Python moves it.
    """

    def __init__(self, name: str, typed: Callable[[str, str], None]) -> None:
        self.name, self.ladder = name, ladder(name)
        fixed = {"width": "18em", "flex": "0 0 18em"}  # else a long message would squeeze it
        self.text = ipywidgets.Text(
            description=FIELDS[name]["label"],
            tooltip=phrases.fill(FIELDS[name]["help"], **FIELDS[name]),
            continuous_update=False,
            style=LABELS,
            layout={"width": "22em", "flex": "0 0 22em"},
        )
        self.slider = ipywidgets.IntSlider(max=len(self.ladder) - 1, readout=False, layout=fixed)
        self.message = ipywidgets.HTML()
        self.text.observe(lambda change: typed(name, change["new"].strip()), "value")
        self.slider.observe(lambda change: typed(name, self.ladder[change["new"]]), "value")

    def follow(self, text: str, *, good: bool) -> None:
        """Show a text as it was typed, with the slider as near as it can be if the text is good."""
        if self.text.value.strip() != text:
            self.text.value = text
        if good and text:
            self.slider.value = nearest(self.name, text)


class Explorer:
    """Controls, pictures and numbers of one design and its lookup table, for the end of a cell.

    ``typed`` is what stands in the fields, right or wrong; ``settings`` and ``explored`` are those of the
    last input that had an answer.

    >>> Explorer(Settings(keysize=2**16))
    Explorer(epsilon=0.5, delta=1e-4, support=auto, slack=0.1, keysize=2^16, rule=ceiling)
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.typed, self._follows = texts(settings or Settings()), False
        rules = [(label, rule) for rule, label in FIELDS["rule"]["choices"].items()]
        self.fields = {name: Field(name, self._type) for name in FIELDS if name != "rule"}
        self.auto = ipywidgets.Checkbox(description=say("auto"), indent=False, layout={"width": "16em"})
        self.rule = ipywidgets.RadioButtons(
            options=rules, description=FIELDS["rule"]["label"], style=LABELS, layout={"width": "max-content"}
        )
        self.example = ipywidgets.Button(description=say("example"), layout={"width": "max-content"})
        self.explain = ipywidgets.Checkbox(description=say("explain"), indent=False)
        self.messages = {name: field.message for name, field in self.fields.items()}
        self.messages["rule"] = ipywidgets.HTML()
        self.verdict, self.stale, self.why, self.numbers, self.lines = (ipywidgets.HTML() for _ in range(5))
        self.noise, self.curve = (ipywidgets.HTML(layout={"max_width": "100%"}) for _ in "ab")
        self._drawn: dict[str, Any] = {}
        self._show(explorer.explore(explorer.read(self.typed)))
        self._follow({})
        self.auto.observe(lambda change: self._type("support", self._own_support(change["new"])), "value")
        self.rule.observe(lambda change: self._type("rule", change["new"]), "value")
        self.explain.observe(lambda _: self._show_numbers(), "value")
        self.example.on_click(lambda _: self._update(texts(Settings())))
        self.box = ipywidgets.VBox(self._layout())

    def _own_support(self, auto: bool) -> str:
        return "auto" if auto else self.fields["support"].text.value or str(self.explored.support)

    def _layout(self) -> list[Any]:
        rows: list[Any] = []
        for group, names in groupby(FIELDS, lambda name: FIELDS[name]["group"]):
            rows.append(ipywidgets.HTML(f"<b>{escape(group)}</b>"))
            rows += [self._row(name) for name in names]
        outputs = (self.verdict, self.stale, self.why, _row(self.noise, self.curve), self.explain)
        return [*rows, self.example, *outputs, self.numbers, self.lines]

    def _row(self, name: str) -> Any:
        if name == "rule":
            return _row(self.rule, self.messages[name])
        extra = [self.auto] if name == "support" else []
        return _row(self.fields[name].text, self.fields[name].slider, *extra, self.messages[name])

    def __repr__(self) -> str:
        return f"Explorer({', '.join(f'{name}={text}' for name, text in texts(self.settings).items())})"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        return {**self.box._repr_mimebundle_(**options), "text/plain": repr(self)}

    @property
    def settings(self) -> Settings:
        """What is shown: the last settings that had an answer."""
        return self.explored.settings

    def _type(self, name: str, text: str) -> None:
        if not self._follows:
            self._update({name: text})

    def _update(self, typed: Mapping[str, str]) -> None:
        """Show what follows from what is typed, or what is wrong with it beside the last that was right."""
        self.typed.update(typed)
        problems = self._problems()
        for name, message in self.messages.items():
            message.value = f"<b>{escape(problems[name])}</b>" if name in problems else ""
        self.stale.value = ""
        if problems:
            self.verdict.value = f"<b>{escape(say('no_answer'))}</b>"
            answered = explorer_words.settings(self._answered, self.explored.support)
            self.stale.value = escape(say("stale", settings=answered))
            self.lines.value = ""  # nobody shall take home a table beside settings that are not its own
        self._follow(problems)

    def _problems(self) -> dict[str, str]:
        """What is wrong, by field; if nothing is, show what follows."""
        problems = {}
        for name, text in self.typed.items():
            try:
                explorer.read({name: text})
            except explorer.RefusalError as refusal:
                problems[name] = str(refusal)
        if not problems:
            try:
                self._show(explorer.explore(explorer.read(self.typed)))
            except explorer.RefusalError as refusal:
                problems = dict.fromkeys(refusal.fields, str(refusal))
            except ArithmeticError as error:
                problems["rule"] = str(error)
        return problems

    def _follow(self, problems: Mapping[str, str]) -> None:
        """Move every control to what is typed."""
        self._follows = True
        auto = self.typed["support"] == "auto"
        best = "" if problems else str(self.explored.best_support)
        for name, field in self.fields.items():
            text = best if name == "support" and auto else self.typed[name]
            field.follow(text, good=name not in problems)
        self.auto.value, self.rule.value = auto, self.typed["rule"]
        self._follows = False

    def _show(self, explored: Explored) -> None:
        numbers = explorer.numbers(explored)  # first, as what has no numbers is not shown
        self.explored, self._answered = explored, dict(self.typed)
        noise = (explored.support, explored.gamma, explored.table)
        wanted = (explored.design.epsilon, parameters.delta(explored.settings.delta))
        described, caption = say("pmf_described", **numbers), f"<b>{say('pmf_caption')}</b>"
        self._draw("noise", noise, pictures.noise_axes, described, caption)
        described = say("curve_described", **numbers, wanted=explored.settings.delta)
        caption = f"<b>{say('curve_caption')}</b> {say('plateau', **numbers)}"
        self._draw("curve", (*noise, *wanted), pictures.curve_axes, described, caption)
        self.verdict.value = f"<b>{escape(explorer_words.verdict(explored))}</b>"
        self.why.value = phrases.html(explorer_words.reasons(explored))
        self._show_numbers()
        self.lines.value = _lines(explored)

    def _show_numbers(self) -> None:
        self.numbers.value = _table(explorer.numbers(self.explored), explained=self.explain.value)

    def _draw(
        self, name: str, shown: Any, draw: Callable[[Any, Explored], None], alt: str, caption: str
    ) -> None:
        """Draw anew what has changed."""
        if self._drawn.get(name) != shown:
            picture = b64encode(pictures.live(draw, self.explored)).decode()
            size = 'width="440" style="max-width: 100%"'
            image = f'<img alt="{escape(alt)}" {size} src="data:image/png;base64,{picture}">'
            getattr(self, name).value = f'<div style="max-width: 440px">{image}<br>{caption}</div>'
            self._drawn[name] = shown


def _row(*parts: Any) -> Any:
    return ipywidgets.HBox(parts, layout={"flex_flow": "row wrap"})


def _table(numbers: Mapping[str, str], *, explained: bool) -> str:
    rows = [("", f"<b>{say('noise')}</b>", f"<b>{say('table')}</b>")]
    for row in explorer.WORDS["rows"]:
        more = (
            f"<br><small>{phrases.html(phrases.fill(row['explain'], **numbers))}</small>" if explained else ""
        )
        noise = row.get("noise_is") or numbers.get(row.get("noise", ""), "")
        rows.append((f"{phrases.html(row['label'])}{more}", noise, numbers.get(row.get("table", ""), "")))
    cells = ("".join(f"<td style='padding-right:2em'>{cell}</td>" for cell in row) for row in rows)
    return f"<table style='line-height:1.6'><tr>{'</tr><tr>'.join(cells)}</tr></table>"


def _lines(explored: Explored) -> str:
    """The table to take home, and the lines that make it again."""
    typed = texts(explored.settings)
    data = f"data:text/csv;charset=utf-8,{quote(explorer.csv(explored))}"
    again = {
        say("in_shell"): explorer_words.command(explored),
        say("in_python"): explorer_words.python(typed),
        say("on_site"): explorer_words.address(typed),
    }
    shown = (
        f"{escape(title)}<pre style='white-space:pre-wrap'>{escape(lines)}</pre>"
        for title, lines in again.items()
    )
    link = (
        f"<a download='{explorer_words.file_name(explored)}' href='{data}' style='text-decoration:underline'>"
    )
    return f"{link}{escape(say('download'))}</a><br>{''.join(shown)}"
