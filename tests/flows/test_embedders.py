"""A store with another embedder ranks as it does with the one that its weights were fitted with."""

from __future__ import annotations

import pytest

import limpet
from limpet.settings import DEFAULT_EMBEDDER, Settings
from limpet.vectors.embedder import load_embedder
from limpet.work.service import models
from tests.embedders import Aside

SAID = (
    "Deployments are frozen on Fridays after noon.",
    "The staging database is rebuilt every night from a masked copy of production.",
    "Customers get their money back within fourteen days.",
    "The mobile app keeps answers for ten minutes unless it is pulled down to refresh.",
    "We chose PostgreSQL over MySQL because of its transactional migrations.",
    "The user prefers short answers without code comments.",
    "test_checkout fails at random: the payment sandbox answers too late.",
    "Invoices carry the VAT number of the buyer since January.",
    "The office printer needs its queue restarted after each paper jam.",
    "Passwords expire after ninety days; service accounts are exempt.",
)
ASKED = (
    "when must nothing be shipped",
    "how long do refunds take",
    "why is the phone showing stale data",
    "which relational store was picked and why",
    "what makes the purchase test flaky",
    "how should replies to this person look",
)


@pytest.fixture
def opened(tmp_path, clock):
    several = []

    def one(embedder, name):
        memory = limpet.open(tmp_path / f"{name}.db", scope="project", embedder=embedder, clock=clock)
        several.append(memory)
        return memory

    yield one
    for memory in several:
        memory.close()


def filled(memory):
    memory.remember_batch({"content": text} for text in SAID)
    memory.work()
    return memory


def test_our_own_model_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv("LIMPET_EMBEDDER", raising=False)
    assert Settings(path="x", scope="global").embedder == "limpet"
    with limpet.open(tmp_path / "memory.db", scope="global") as memory:
        memory.remember(SAID[0])
        memory.work()
        assert {one.name for one in models(memory._context) if one.state == "active"} == {"limpet"}


def test_an_embedder_whose_cosines_lie_close_together_ranks_as_well(opened):
    """Its vectors order texts as the real ones do; before they were gauged, words outweighed them."""
    real = load_embedder(DEFAULT_EMBEDDER)
    plain, squeezed = filled(opened(real, "plain")), filled(opened(Aside(real, 0.8), "squeezed"))
    for question in ASKED:
        one, other = plain.recall(question, k=5, explain=True), squeezed.recall(question, k=5, explain=True)
        # What comes behind the answers is nearly tied, and a newer one may pass an older one.
        assert [item.content for item in other.items][:3] == [item.content for item in one.items][:3]
        assert other.relevance == pytest.approx(one.relevance, abs=0.05)
        assert other.relevant == one.relevant
        cosines = [[item.why.signals["vector"].raw for item in found.items] for found in (one, other)]
        assert cosines[1] == pytest.approx(cosines[0], abs=0.05)


def test_an_embedder_is_measured_once_and_the_store_knows(opened):
    embedder = Aside(load_embedder(DEFAULT_EMBEDDER), 0.9)
    filled(opened(embedder, "store")).work()  # what the content policy refuses is embedded anew
    embedded = embedder.texts

    again = opened(embedder, "store")
    again.remember("Backups are kept for thirty days.")
    again.work()

    assert embedder.texts == embedded + 1
    assert again._context.store.vectors.embedder().calibration[0] > 0.85


def test_no_two_statements_are_one_by_any_embedder(opened):
    """With cosines of 0.9 for all that was ever said, everything would be a duplicate of everything."""
    memory = filled(opened(Aside(load_embedder(DEFAULT_EMBEDDER), 0.9), "store"))
    memory.remember("After noon on Fridays deployments are frozen.")
    memory.work()
    assert memory.review() == []
    assert {one.state for one in memory.list(all_states=True, limit=200).memories} == {"active"}


def test_a_hurried_recall_does_not_stop_to_measure(opened):
    """Eighty texts are no small backlog: the note is found by its words, and has its vector when there is time."""
    embedder = Aside(load_embedder(DEFAULT_EMBEDDER), 0.9)
    memory = opened(embedder, "store")
    memory.remember("Backups are kept for thirty days.")

    hurried = memory.recall("how long are backups kept", deadline_ms=100)

    assert [len(hurried.items), hurried.missing, embedder.texts] == [1, ["vector"], 0]
    assert memory.recall("how long are backups kept").missing == []
    assert embedder.texts > 1
