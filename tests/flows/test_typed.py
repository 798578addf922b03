"""What a checker of types and `help` see of the verbs: their arguments by name, and ids that are text."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import limpet
from limpet.history.queries import History

# As the pages write it; each line of WRONG with what is said of it.
RIGHT = """
import asyncio
import limpet

memory = limpet.open(":memory:")
receipt = memory.remember("The limit is 100 calls a minute", topics=["api"])
newer = memory.correct(receipt.id, "The limit is 500 calls a minute", why="raised", kind="decision", topics=())
memory.set_fact("user.city", "Tampa", origin="user", valid_from="2026-01-01", because=[newer.id])
memory.why(newer.id, depth=3, everything=True)
memory.impact(receipt.id, as_of="2026-01-01")
memory.graph.path(receipt.id, newer.id, types=["supersedes"])
memory.audit("user.city", limit=5)
memory.graph.timeline("user.city", limit=2)
memory.graph.contradictions(everything=True)
memory.graph.gaps(kind="unjustified_decision", limit=3)
memory.graph.diff("1 day ago", limit=3)

async def story() -> bool:
    async with limpet.AsyncLimpet(":memory:") as memory:
        id = (await memory.remember("The limit is 100 calls a minute")).id
        await memory.correct(id, "The limit is 500 calls a minute", why="raised")
        await memory.why(id, depth=3)
        return memory.encrypted

asyncio.run(story())
"""
WRONG = [
    'memory.set_fact("a.b", "c", valid_fromm="2024")',
    'memory.correct("id", "text", topic=["a"])',
    'memory.why("id", deep=3)',
    'memory.impact("id", limits=3)',
    'memory.graph.path("a", "b", type="caused_by")',
    'memory.audit("a.b", as_off="2024")',
    'memory.graph.timeline("a.b", limits=3)',
    "memory.graph.contradictions(all=True)",
    "memory.graph.gaps(kindd=())",
    'memory.graph.diff("1 day ago", known="now")',
    'limpet.AsyncLimpet().set_fact("a.b", "c", valid_fromm="2024")',
    'limpet.AsyncLimpet().why("id", deep=3)',
]


def checked(tmp_path, text):
    pytest.importorskip("mypy")
    file = tmp_path / "program.py"
    file.write_text(text)
    argv = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(file)]
    home = Path(limpet.__file__).parents[1]  # which is the one that runs here
    env = os.environ | ({} if home.name == "site-packages" else {"MYPYPATH": str(home)})
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path, env=env).stdout


def test_what_the_pages_write_passes_a_strict_checker_and_a_mistyped_keyword_does_not(tmp_path):
    head = RIGHT.count("\n") + 1
    said = checked(tmp_path, RIGHT + "\n".join(WRONG) + "\n").splitlines()

    lines = {int(one.split(":")[1]) for one in said if ": error:" in one}
    assert lines == set(range(head, head + len(WRONG))), "\n".join(said)


def test_what_passes_the_checker_runs():
    exec(compile(RIGHT, "program", "exec"), {})


@pytest.mark.parametrize("name", ["why", "impact", "audit"])
def test_a_verb_shows_the_arguments_of_the_query_that_it_asks(name):
    of_query = inspect.signature(getattr(History, name))
    mine = inspect.signature(getattr(limpet.Limpet, name))
    as_coroutine = inspect.signature(getattr(limpet.AsyncLimpet, name))

    shown = {one.name: (one.kind, one.default) for one in of_query.parameters.values()}
    assert {one.name: (one.kind, one.default) for one in mine.parameters.values()} == shown
    assert as_coroutine == mine


@pytest.mark.parametrize("name", ["set_fact", "correct"])
def test_a_write_shows_the_arguments_of_remember(name):
    given = set(inspect.signature(limpet.Limpet.remember).parameters)
    shown = set(inspect.signature(getattr(limpet.Limpet, name)).parameters)

    assert given - {"content", "key", "id"} <= shown


def test_what_is_not_given_to_a_correction_stays_and_none_takes_it_away(memory):
    old = memory.remember("The limit is 100", kind="decision", topics=["api"], speaker="Ana", metadata={"ticket": 7})
    same = memory.get(memory.correct(old.id, "The limit is 200").id)
    none = memory.get(memory.correct(same.id, "The limit is 300", topics=(), speaker=None, metadata=None).id)

    assert (same.kind, same.topics, same.speaker, same.metadata) == ("decision", ("api",), "Ana", {"ticket": 7})
    assert (none.kind, none.topics, none.speaker, none.metadata) == ("decision", (), None, {})


def test_a_coroutines_store_says_whether_it_is_encrypted():
    assert limpet.AsyncLimpet(":memory:").encrypted is False
