"""docs/reference/python.md names every public method and property of `Limpet`, and shows them as they are called."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import limpet
from tests.feature_functions import FUNCTIONS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md"
TEXT = re.sub(r"^```.*?^```$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
SPANS = re.findall(r"`([^`\n]+)`", TEXT)
# What several signatures have in common, as the page writes it once.
(FILTERS,) = re.findall(r"^FILTERS, with the names of `remember`: `([^`\n]+)`", TEXT, re.MULTILINE)
PUBLIC = [name for name in dir(limpet.Limpet) if not name.startswith("_")]
# What hands its other keywords to another verb.
HANDED_ON: dict[str, Callable[..., Any]] = {
    **{name: getattr(limpet.History, name) for name in ("audit", "impact", "why")},
    "correct": limpet.Limpet.remember,
    "set_fact": limpet.Limpet.remember,
}  # fmt: skip
# Said below the table of the graph, for all queries of it.
OF_EVERY_QUERY = {"as_of", "known_at"}


def verb(name: str) -> Callable[..., Any]:
    """What the page calls `remember`, `graph.chain`, `limpet.open` or `mirror.sync`."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    owner, _, last = name.rpartition(".")
    one: Callable[..., Any] = getattr({"": limpet.Limpet, "graph": limpet.History, "limpet": limpet}[owner], last)
    return one


def parameters(one: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return {name: its for name, its in inspect.signature(one).parameters.items() if name != "self"}


def shown_signatures(text: str) -> list[tuple[str, str]]:
    """(name, arguments) of each call in the first column of a table, and of `limpet.open`."""
    columns = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| `")]
    spans = [span for column in columns for span in re.findall(r"`([^`]+)`", column)]
    spans += re.findall(r"^`(limpet\.open\([^`\n]*\)) -> Limpet`$", text, re.MULTILINE)
    return [(found[1], found[2]) for span in spans if (found := re.fullmatch(r"([\w.]+)\((.*)\)", span))]


def names_in(arguments: str) -> set[str]:
    """The parameters of a signature as the page shows it."""
    written = arguments.replace("FILTERS", FILTERS).removesuffix("...").rstrip(", ")
    (function,) = ast.parse(f"def shown({written}): ...").body
    assert isinstance(function, ast.FunctionDef)
    given = function.args
    several = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return {one.arg for one in several}


def differences(name: str, arguments: str) -> dict[str, set[str]]:
    """What the page shows and is not there, and what is there and the page does not show."""
    one, handed_on = verb(name), HANDED_ON.get(name)
    taken = parameters(one)
    rest = {other for other, its in taken.items() if its.kind is inspect.Parameter.VAR_KEYWORD}
    there = taken.keys() - rest
    if rest:
        assert handed_on, f"say in HANDED_ON which verb takes the other keywords of {name}"
        there |= parameters(handed_on).keys()
    expected = set(there)
    if name.startswith("graph.") or (handed_on and handed_on.__qualname__.startswith("History.")):
        expected -= OF_EVERY_QUERY
    shown = names_in(arguments)
    return {
        "not there": shown - there,
        "not shown": set() if arguments.endswith("...") else expected - shown,
    }


SHOWN = shown_signatures(TEXT.split("\n## Types\n")[0])


@pytest.mark.parametrize("name", PUBLIC)
def test_the_python_page_names_it_in_a_code_span(name):
    called = not isinstance(inspect.getattr_static(limpet.Limpet, name), property)
    # A word alone may be an argument or a value: a method is named by how it is called.
    assert any(span.startswith(f"{name}(") if called else span == name for span in SPANS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_python_page_names_every_function_of_a_feature(name):
    assert any(span.startswith(f"{name}(memory") for span in SPANS)


@pytest.mark.parametrize(("name", "arguments"), SHOWN, ids=[name for name, _ in SHOWN])
def test_the_python_page_shows_a_signature_as_it_is(name, arguments):
    assert differences(name, arguments) == {"not there": set(), "not shown": set()}


def test_the_python_page_shows_signatures():
    assert len({name for name, _ in SHOWN}) == len(SHOWN) > 90
    assert {"kind", "scope", "clock"} <= names_in(FILTERS)


@pytest.mark.parametrize(
    ("row", "not_there", "not_shown"),
    [
        ("| `move(ids, scope)` | ... |", set(), set()),
        ("| `move(ids)` | ... |", set(), {"scope"}),
        ("| `move(ids, scope, *, dry_run=False)` | ... |", {"dry_run"}, set()),
        ("| `move(ids, ...)` | ... |", set(), set()),
        ("| `move(ids, dry_run=False, ...)` | ... |", {"dry_run"}, set()),
        ("| `count(*, FILTERS)` | ... |", set(), {"all_states"}),
        ("| `count_by(*by, FILTERS, all_states=False, kinds=())` | ... |", {"kinds"}, set()),
        ("| `forget(kinds=(), ...)` | ... |", {"kinds"}, set()),
        ("| `prepare(budget=None, ...)` | ... |", {"budget"}, set()),
        ("| `recall(query, *, budget=None, ...)` | ... |", {"budget"}, set()),
        ("| `graph.gaps(*, kinds=(), limit=20)` | ... |", {"kinds"}, {"kind"}),
        ("| `why(id, *, depth=5, everything=False)` | ... |", set(), {"limit"}),
        ("| `set_fact(key, value, *, wrong=None, ...)` | ... |", {"wrong"}, set()),
        ("| `graph.chain(id)` | ... |", set(), {"limit"}),
        ("`limpet.open(path=None, ...) -> Limpet`", set(), set()),
    ],
)
def test_a_signature_on_the_python_page_is_compared(row, not_there, not_shown):
    ((name, arguments),) = shown_signatures(row)
    assert differences(name, arguments) == {"not there": not_there, "not shown": not_shown}
