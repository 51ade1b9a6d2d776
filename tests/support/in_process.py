"""A notebook's code cells run in this process, as a kernel would run them but without the start of one."""

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import TextIOBase
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from IPython.core.formatters import DisplayFormatter
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook


class _Stream(TextIOBase):
    """What is printed becomes an output of the cell, in its place between the others."""

    def __init__(self, name: str, outputs: list[dict[str, Any]]) -> None:
        self.stream, self.outputs = name, outputs

    def write(self, text: str) -> int:
        self.outputs.append({"output_type": "stream", "name": self.stream, "text": text})
        return len(text)


@contextmanager
def _shown() -> Iterator[list[dict[str, Any]]]:
    """All that is printed and displayed, in order; the value of an expression goes to ``sys.displayhook``."""
    outputs: list[dict[str, Any]] = []
    formatter = DisplayFormatter()

    def publish(data: Any, metadata: Any = None, **_: Any) -> None:
        outputs.append({"output_type": "display_data", "data": data, "metadata": metadata or {}})

    def hook(value: Any) -> None:
        if value is not None:
            data, metadata = formatter.format(value)
            outputs.append({"output_type": "execute_result", "data": data, "metadata": metadata})

    shell = SimpleNamespace(display_formatter=formatter, display_pub=SimpleNamespace(publish=publish))
    with (
        patch.object(InteractiveShell, "initialized", lambda: True),
        patch.object(InteractiveShell, "instance", lambda: shell),
        patch.object(sys, "displayhook", hook),
        redirect_stdout(_Stream("stdout", outputs)),
        redirect_stderr(_Stream("stderr", outputs)),
    ):
        yield outputs


def run(path: Path, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The executed notebook; papermill itself puts in the parameters. A cell that fails raises its error."""
    notebook = load_notebook_node(str(path))
    if parameters:
        notebook = parameterize_notebook(notebook, dict(parameters))
    names: dict[str, Any] = {"__name__": "__main__", "display": display}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, 1):
        tree = ast.parse(cell["source"])
        last = [tree.body.pop()] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
        place = f"{path.name}, cell {number}"
        with _shown() as outputs:
            exec(compile(tree, place, "exec"), names)  # noqa: S102
            exec(compile(ast.Interactive(last), place, "single"), names)  # noqa: S102
        for output in outputs:
            output |= {"execution_count": number} if output["output_type"] == "execute_result" else {}
        cell |= {"execution_count": number, "outputs": outputs}
    return dict(notebook)
