"""Verdicts about pairs of memories: kept, found from either side, gone with a memory, and silent where a person said no."""

from __future__ import annotations

import pytest

from limpet.store.records import Proposal, Relation
from tests.contract.conftest import body_of, texts_of

MODEL = "reader test"


@pytest.fixture
def pair(store, scribe):
    """Two memories, the newer of which surely replaces the older."""
    older, newer = scribe.remember("CI runs on Jenkins"), scribe.remember("builds go through Actions")
    store.relations.add([Relation(older, newer, "replaces", "sure", 0.97, MODEL)])
    return older, newer


def proposed(store, pair, clock):
    older, newer = pair
    id = bytes(15) + b"\x01"
    store.reviews.propose([Proposal(id, "correction", "project:api", newer, older, "read", 0.97, clock.now())])
    return id


def test_a_verdict_is_found_from_the_older_and_from_the_newer(store, pair):
    older, newer = pair
    verdict = Relation(older, newer, "replaces", "sure", 0.97, MODEL)
    assert store.relations.of([older]) == store.relations.of([newer]) == store.relations.of(pair) == [verdict]
    assert store.relations.of([]) == [] == store.relations.of([bytes(16)])


def test_a_later_verdict_about_a_pair_takes_the_place_of_the_earlier(store, pair):
    store.relations.add([Relation(*pair, "ends", "likely", 0.8, MODEL)])
    assert [(one.relation, one.level) for one in store.relations.of(pair)] == [("ends", "likely")]
    assert store.relations.counts() == [(MODEL, "ends", "likely", 1)]


def test_what_changed_a_text_is_found_by_the_text(store, pair):
    older, newer = pair
    assert texts_of(store, store.relations.newer_texts([body_of(store, older)])) == ["builds go through Actions"]
    assert store.relations.newer_texts([body_of(store, newer)]) == [] == store.relations.newer_texts([])


def test_what_changed_a_text_that_was_corrected_since_is_found_too(store, scribe, pair):
    older, newer = pair
    scribe.change("edited", older, "CI runs on Jenkins 2", fields=["content"])
    assert store.relations.newer_texts([body_of(store, older)]) == [body_of(store, newer)]


def test_it_is_among_what_is_said_of_the_older(store, pair):
    older, newer = pair
    assert store.edges.warnings([older, newer]) == [("replaces sure", older, newer)]


def test_a_pair_of_which_a_person_said_that_both_hold_is_in_no_answer(store, scribe, pair, clock):
    older, newer = pair
    id = proposed(store, pair, clock)
    assert store.relations.of(pair)
    decided = scribe.change("reviewed", newer, about="correction", verdict="rejected", item=id.hex())
    assert store.relations.of(pair) == [] == store.edges.warnings([older])
    assert store.relations.newer_texts([body_of(store, older)]) == []
    scribe.undo(decided)
    assert store.relations.of(pair)


def test_an_erased_memory_is_in_no_verdict(store, scribe, pair):
    scribe.purge(pair[1])
    assert store.relations.of(pair) == []


def test_all_can_be_forgotten(store, pair):
    assert store.relations.drop() == 1
    assert store.relations.of(pair) == [] == store.relations.counts()


def test_what_a_memory_weighs_is_no_relation_to_another(store, scribe):
    id = scribe.remember("Ana is allergic to peanuts")
    store.relations.add([Relation(id, id, "weighs", "sure", 0.75, MODEL)])
    assert store.relations.weights([id, bytes(16)]) == {id: 0.75} and store.relations.weights([]) == {}
    assert store.relations.of([id]) == [] == store.relations.counts() == store.edges.warnings([id])
    assert store.relations.newer_texts([body_of(store, id)]) == []
    scribe.purge(id)
    assert store.relations.weights([id]) == {}


def test_what_stands_for_a_text_is_all_that_replaced_it_one_after_the_other(store, scribe, clock):
    first, then, last = (scribe.remember(text) for text in ("Jenkins", "Actions", "Forgejo"))
    for old, new in ((first, then), (then, last)):
        scribe.change("superseded", old, by=new.hex(), valid_to=clock.now())
    bodies = [body_of(store, id) for id in (first, then, last)]
    assert sorted(store.search.standing_for(bodies)) == [
        (bodies[0], bodies[1]), (bodies[0], bodies[2]), (bodies[1], bodies[2])
    ]  # fmt: skip
    assert store.search.standing_for([bodies[2]]) == [] == store.search.standing_for([])
