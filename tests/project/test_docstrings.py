"""What a public name says of itself: every one has a docstring, and those that can fail say how."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[2] / "src" / "tablebuilder_dp"
REFUSALS = {"wrong_value", "wrong_type"}
"""What makes the errors about bad arguments, of which the package's docstring speaks for all."""

UNDECIDED = {"until", "to_digits", "below"}
"""What raises an ArithmeticError where no precision decides."""

Public = ast.FunctionDef | ast.ClassDef


def public(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Public]]:
    """The public functions and classes of a module, and the public methods of the latter."""
    for node in body:
        if isinstance(node, Public) and not node.name.startswith("_"):
            yield f"{prefix}.{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body, f"{prefix}.{node.name}")


NAMES = {
    name: node
    for path in sorted(LIBRARY.rglob("*.py"))
    for name, node in public(
        ast.parse(path.read_text(encoding="utf-8")).body,
        ".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts),
    )
}


def called(node: ast.AST | None) -> str:
    """The last part of the name that is called, if anything is."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def can_fail(function: ast.FunctionDef) -> bool:
    """Whether the body raises more than a refusal of an argument, or asks for a precision that decides."""
    nodes = list(ast.walk(function))
    raised = (node.exc for node in nodes if isinstance(node, ast.Raise) and node.exc)
    return any(called(error) not in REFUSALS for error in raised) or any(
        called(node) in UNDECIDED for node in nodes
    )


def says(node: Public) -> str:
    return ast.get_docstring(node) or ""


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert says(NAMES[name]).strip()


FAILING = [name for name, node in NAMES.items() if isinstance(node, ast.FunctionDef) and can_fail(node)]


@pytest.mark.parametrize("name", FAILING)
def test_what_can_fail_says_how(name: str) -> None:
    assert "Raises" in says(NAMES[name])


def test_the_package_says_how_bad_arguments_are_refused() -> None:
    package = ast.get_docstring(ast.parse((LIBRARY / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert "ValueError" in package
    assert "TypeError" in package


@pytest.mark.parametrize(
    ("body", "fails"),
    [
        ("raise ArithmeticError('no decision')", True),
        ("raise KeyError from None", True),
        ("return to_digits(30, lambda: x)", True),
        ("return intervals.below(x, compute)", True),
        ("raise parameters.wrong_value('x', 'positive', x)", False),
        ("raise wrong_type('x', 'a number', x) from None", False),
        ("try:\n        return 1 / x\n    finally:\n        pass", False),
        ("try:\n        return 1 / x\n    except ValueError:\n        raise", False),
    ],
)
def test_the_reading_of_a_body(body: str, fails: bool) -> None:
    [function] = ast.parse(f"def f(x):\n    {body}\n").body
    assert isinstance(function, ast.FunctionDef)
    assert can_fail(function) is fails
