"""A whole store into another one: the same ledger, whichever engines, also when it was interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace

import pytest

import limpet
from limpet.features.transfer import service as copying
from tests import postgres_server

POSTGRES = pytest.param(
    "postgres",
    marks=[
        pytest.mark.xdist_group("postgres"),
        pytest.mark.skipif(postgres_server.missing() is not None, reason=str(postgres_server.missing())),
    ],
)


@pytest.fixture(params=["file", POSTGRES])
def elsewhere(request, tmp_path):
    return postgres_server.url_of(tmp_path.name) if request.param == "postgres" else str(tmp_path / "other.db")


@pytest.fixture
def lived(memory, clock):
    """A store in which everything happened that leaves a trace in the ledger."""
    first = memory.remember("The rate limit is 100", key="api.limit", topics=["api"], session="monday").id
    clock.advance(hours=1)
    memory.remember("The rate limit is 200", key="api.limit")
    second = memory.remember("Deploys never run on Friday").id
    memory.edit(second, "Deploys run on Tuesday")
    memory.link(second, "caused_by", first)
    gone = memory.remember("the password of the vault is on the door").id
    memory.purge(gone, confirm=True)
    memory.remember("a note that was taken back")
    memory.undo()
    memory.in_scope("project:web").remember("Berlin has an office")
    memory.show(second)
    memory.work()
    return memory


class Scores(dict):
    """The first texts of a process are read by NumPy, all others by the runtime: in the last bits they differ."""

    __hash__ = None

    def __eq__(self, other):
        return dict(self) == pytest.approx(dict(other), abs=1e-4)


def said(path):
    with limpet.open(path, scope="project:api") as memory:
        store = memory._context.store
        events = [replace(event, seq=0) for event in store.ledger.events()]
        found = {item.id: item.score for item in memory.recall("when is the deploy?", as_of="2026-03-02").items}
        return events, list(store.usage.rows()), list(found), memory.verify(), Scores(found)


def test_a_copy_there_and_back_is_the_same(lived, path, elsewhere, tmp_path):
    back = str(tmp_path / "back.db")

    there = limpet.copy_store(path, elsewhere)
    returned = limpet.copy_store(elsewhere, back)

    assert said(path) == said(elsewhere) == said(back)
    assert said(path)[3] == []
    assert (there.events, there.there) == (returned.events, 0)
    assert limpet.copy_store(path, elsewhere) == (0, there.events)


def test_an_interrupted_copy_goes_on_where_it_was(lived, path, elsewhere, monkeypatch):
    monkeypatch.setattr(copying, "BATCH_EVENTS", 3)

    def interrupt(done, total):
        if done >= 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        limpet.copy_store(path, elsewhere, progress=interrupt)
    report = limpet.copy_store(path, elsewhere)

    assert report.there == 6
    assert said(path) == said(elsewhere)


KILLED = """
import os, signal, sys
import limpet
from limpet.features.transfer import service as copying

source, target, place = sys.argv[1:]
copying.BATCH_EVENTS = 3

def end(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

class Ends:
    # One repository of the target, whose writes are the last that this process does.
    def __init__(self, real, name):
        self.real, self.name = real, name
    def __getattr__(self, name):
        do = getattr(self.real, name)
        return do if name != self.name else lambda *given, **more: (do(*given, **more), end())

open_store = copying.open_store
def opened(path, describe, read_only=False):
    store = open_store(path, describe, read_only=read_only)
    if not read_only and not place.isdecimal():
        repository, verb = place.split(".")
        setattr(store, repository, Ends(getattr(store, repository), verb))
    return store
copying.open_store = opened
limpet.copy_store(source, target, progress=lambda done, total: place.isdecimal() and done >= int(place) and end())
"""


@pytest.mark.parametrize("elsewhere", [POSTGRES], indirect=True)
def test_a_copy_that_is_killed_anywhere_goes_on_in_both_directions(lived, path, elsewhere, tmp_path):
    """By `kill -9`: between two batches, and after use counts; each begins where the last one was."""
    back = str(tmp_path / "back.db")
    places = {(path, elsewhere): ("3", "usage.restore"), (elsewhere, back): ("9", "usage.restore")}
    for (source, target), several in places.items():
        for place in several:
            ended = subprocess.run([sys.executable, "-c", KILLED, source, target, place], check=False, timeout=120)
            assert ended.returncode == -signal.SIGKILL, place
        report = limpet.copy_store(source, target)
        assert report.events == 0 and report.there > 9

    assert said(path) == said(elsewhere) == said(back)


def test_what_holds_something_else_is_left_alone(lived, path, elsewhere):
    with limpet.open(elsewhere, scope="project:api") as other:
        other.remember("something else")
    before = said(elsewhere)

    with pytest.raises(limpet.BadInput, match="something else"):
        limpet.copy_store(path, elsewhere)
    with pytest.raises(limpet.BadInput, match="into itself"):
        limpet.copy_store(path, path)

    assert said(elsewhere) == before


def test_rows_that_are_written_together_are_those_that_were_written_one_by_one(memory, path, elsewhere):
    """Texts that look like the words of the statements, and columns that are empty in some rows."""
    for number, text in enumerate(
        ("it's 100 % \\ of", '"two", {three}', "%s ?1 :name; DROP", "\\x00 E'\\n'", "VALUES (1)")
    ):
        memory.remember(text, metadata={"n": number, text: [0.5, None]} if number % 2 else None, importance=number / 4)

    limpet.copy_store(path, elsewhere)

    assert said(path) == said(elsewhere)
    with limpet.open(elsewhere, scope="project:api") as copied:
        assert {(one.content, repr(one.metadata), one.importance) for one in copied.list().memories} == {
            (one.content, repr(one.metadata), one.importance) for one in memory.list().memories
        }
