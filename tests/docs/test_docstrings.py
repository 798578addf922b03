"""Every public verb shows how it is called, and what it shows is true: run in an empty store of its own."""

from __future__ import annotations

import asyncio
import doctest
import inspect
from datetime import date
from pathlib import Path

import pytest

import limpet
from tests.feature_functions import FUNCTIONS

VERBS = {f"Limpet.{name}": verb for name, verb in inspect.getmembers(limpet.Limpet) if name[0] != "_"}
SHOWN = ("path", "scope", "embedder", "read_only")  # what a store says of itself: nothing to call
OTHERS = {"AsyncLimpet": limpet.AsyncLimpet, **FUNCTIONS}


@pytest.mark.parametrize("name", [*VERBS, *OTHERS])
def test_the_example_of_a_verb_is_true(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = inspect.getdoc((VERBS | OTHERS)[name]) or ""
    with limpet.open(tmp_path / "memory.db", scope="project:shop") as memory:
        known = dict(getattr(OTHERS.get(name), "__globals__", {}))
        known |= {"limpet": limpet, "memory": memory, "asyncio": asyncio, "date": date, "Path": Path}
        example = doctest.DocTestParser().get_doctest(said, known, name, None, None)
        lines: list[str] = []
        doctest.DocTestRunner(verbose=False).run(example, out=lines.append)

    assert not lines, "".join(lines)
    assert example.examples or name.removeprefix("Limpet.") in SHOWN, f"{name} has no example"
