"""A picture that follows one slider, for a control inside the prose of a notebook.

The picture of the starting value stands beside it as a figure: on paper and on the pages nothing is missing.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets

from compendium.figures.drawing import Drawing


class Slider:
    """One control and the drawing that follows it."""

    def __init__(
        self, label: str, values: Sequence[float], start: float, draw: Callable[[float], Drawing]
    ) -> None:
        self._label, self._draw = label, draw
        self.control = ipywidgets.SelectionSlider(
            options=[(f"{value:g}", value) for value in values],
            value=start,
            description=label,
            continuous_update=False,
        )
        self.picture, self.caption = ipywidgets.HTML(), ipywidgets.HTMLMath()
        self.control.observe(self._follow, "value")
        self._follow()

    def _follow(self, _: Any = None) -> None:
        drawing = self._draw(self.control.value)
        data = b64encode(drawing.png).decode()
        self.picture.value = (
            f'<img alt="{escape(drawing.alt)}" width="{drawing.width}" style="max-width: 100%" '
            f'src="data:image/png;base64,{data}">'
        )
        self.caption.value = f"<i>{drawing.caption}</i>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """The control and its picture; where nothing can move them, a sentence."""
        bundle = ipywidgets.VBox([self.control, self.picture, self.caption])._repr_mimebundle_(**kwargs)
        return {**bundle, "text/plain": f"(A slider for {self._label}: it moves in JupyterLab.)"}
