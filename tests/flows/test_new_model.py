"""A store with vectors of the model that was the default before ours: it answers by them until ours has taken over."""

from __future__ import annotations

import subprocess
import sys
import tarfile

import pytest

import limpet
from limpet.settings import DEFAULT_EMBEDDER, Settings
from limpet.vectors.embedder import load_embedder
from tests.flows.test_old_stores import STORES

SAID = (
    "Deployments are frozen on Fridays after noon.",
    "Customers get their money back within fourteen days.",
    "The mobile app keeps answers for ten minutes.",
    "Invoices carry the VAT number of the buyer.",
)


def states(memory):
    return {one.name: one.state for one in memory.models() if one.state != "installed"}


def by_meaning(memory, question):
    return memory.recall(question, k=1, without=["lexical"])


@pytest.fixture
def written_before(path, clock):
    """A store whose vectors are MiniLM's, as this version opens it."""
    with limpet.open(path, scope="project:api", clock=clock, embedder="minilm") as memory:
        memory.remember_batch({"content": text} for text in SAID)
        memory.work()
    with limpet.open(path, scope="project:api", clock=clock) as memory:
        yield memory


def test_our_own_model_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv("LIMPET_EMBEDDER", raising=False)
    assert DEFAULT_EMBEDDER == Settings(path="x", scope="global").embedder == "limpet"
    with limpet.open(tmp_path / "memory.db", scope="global") as memory:
        memory.remember(SAID[0])
        memory.work()
        assert states(memory) == {"limpet": "active"}


def test_old_vectors_answer_and_work_goes_on_where_it_was_interrupted(written_before):
    memory = written_before
    assert by_meaning(memory, "when must nothing be shipped").items[0].content == SAID[0]
    for left in (3, 2, 1):
        memory.work(limit=1)
        assert states(memory) == {"minilm": "active", "limpet": "building"}
        vectors = memory._context.store.vectors
        new = next(row for row in vectors.embedders() if row.name == "limpet")
        assert len(vectors.missing(new.num, limit=10)) == left
        found = by_meaning(memory, "when must nothing be shipped")
        assert (found.items[0].content, found.missing) == (SAID[0], [])

    memory.work(limit=1)

    assert states(memory) == {"limpet": "active"}
    assert by_meaning(memory, "when must nothing be shipped").items[0].content == SAID[0]
    assert memory.stats().vectors == len(SAID)
    assert memory.verify() == []


def test_what_is_stored_meanwhile_is_found_by_meaning_at_once(written_before):
    memory = written_before
    memory.work(limit=1)
    memory.remember("The cat sleeps on the radiator.")
    assert by_meaning(memory, "where does the feline pet nap").items[0].content.startswith("The cat")
    assert states(memory) == {"minilm": "active", "limpet": "building"}
    memory.work()
    assert states(memory) == {"limpet": "active"}
    assert by_meaning(memory, "where does the feline pet nap").items[0].content.startswith("The cat")
    assert memory.stats().vectors == len(SAID) + 1


def test_an_import_makes_its_own_vectors_and_leaves_the_others(written_before):
    memory = written_before
    memory.remember("The cat sleeps on the radiator.")
    memory.work(only_vectors=True)
    assert states(memory) == {"minilm": "active"}


def test_who_asks_for_the_old_model_keeps_it(written_before, path, clock):
    with limpet.open(path, scope="project:api", clock=clock, embedder="minilm") as memory:
        memory.work()
        assert states(memory) == {"minilm": "active"}


def test_killed_workers_lose_nothing(written_before, path, clock):
    """Each process is ended in the middle of a batch; the last one finishes."""
    program = """
import os, sys
import limpet
from limpet.vectors import own
class Killed(own.OwnModel):
    def embed_passages(self, texts):
        return super().embed_passages(texts) if len(texts) < 2 else os._exit(9)
clock = limpet.FixedClock("2026-03-01T12:00:00Z")
with limpet.open(sys.argv[1], scope="project:api", embedder=Killed(), clock=clock) as memory:
    memory.work(limit=int(sys.argv[2]))
"""
    for limit in ("1", "4", "4"):
        subprocess.run([sys.executable, "-c", program, str(path), limit], check=False)
    memory = written_before
    assert states(memory) == {"minilm": "active", "limpet": "building"}
    clock.advance(seconds=300)  # the leases of the dead end
    memory.work()
    assert states(memory) == {"limpet": "active"}
    assert memory.stats().vectors == len(SAID)


def test_a_store_of_an_earlier_version_answers_before_and_after(tmp_path, clock):
    with tarfile.open(STORES[0]) as archive:
        archive.extractall(tmp_path, filter="data")
    with limpet.open(tmp_path / "memory.db", scope="project:api", clock=clock) as memory:
        before = states(memory)
        memory.work()
        assert (list(before.values()), states(memory)) == (["active"], {"limpet": "active"})
        assert memory.verify() == []


def test_old_and_new_vectors_are_never_compared():
    old, new = (load_embedder(name) for name in ("minilm", DEFAULT_EMBEDDER))
    assert old.fingerprint != new.fingerprint
    assert old.fingerprint in new.replaces
    assert not hasattr(old, "replaces")
