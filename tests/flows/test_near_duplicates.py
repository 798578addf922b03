"""Near-duplicates take one place of a recall; what differs in anything that matters is no near-duplicate."""

from __future__ import annotations

import pytest

from limpet.model.ids import parse_id
from limpet.recall.answer import Recall
from limpet.store.records import Relation

SAME = [
    "The orders of the shop are stored in Postgres 16 on the second machine in the cellar",
    "The orders of the shop, they are stored in Postgres 16 on the second machine in the cellar",
    "So the orders of the shop are stored in Postgres 16 on the second machine in the cellar",
]
OTHERS = ["Bread dough rests overnight", "The VPN is called north", "Ann owns the billing service", "Tests run on Linux",
          "The cat sleeps on the radiator", "Releases are cut on Tuesday", "Backups are kept ten days", "Logs go to Loki"]  # fmt: skip
QUESTION = "where are the orders of the shop stored"


@pytest.fixture
def crowded(memory):
    memory.remember_batch({"content": text} for text in OTHERS)
    stored = [memory.remember(text).id for text in SAME]
    rest = [
        memory.remember(text).id
        for text in ("The orders of the shop are archived each May", "Where the shop stands there was a cellar")
    ]
    return memory, stored, rest


@pytest.mark.parametrize("lexical", [True, False])
def test_rewordings_take_one_place_and_are_named(crowded, lexical):
    memory, stored, rest = crowded
    if not lexical:
        memory.work(limit=len(stored) + len(rest) + len(OTHERS))  # vectors; the queue would merge them next
    found = memory.recall(QUESTION, k=3, lexical_only=lexical)
    ids = [one.id for one in found.items]
    (best,) = set(ids) & set(stored)
    assert rest[0] in ids, "it took the place of a rewording"
    assert set(found.also[best]) == set(stored) - {best} and list(found.also) == [best]


def test_the_same_words_are_the_same_whatever_stands_around_them(memory):
    memory.remember_batch({"content": text} for text in OTHERS)
    one = memory.remember("Run the tests with make test before pushing.").id
    other = memory.remember("run the tests with `make test` before pushing").id
    memory.work(only_vectors=True)

    found = memory.recall("how do I run the tests?", k=3)

    ((best, also),) = found.also.items()
    assert {best, *also} == {one, other}
    assert len({one, other} & {item.id for item in found.items}) == 1


def test_what_a_model_surely_read_as_the_same_is_one_result_and_one_line(memory, clock):
    texts = "Use parameterised queries", "SQL goes through bound parameters", "Never build SQL from strings"
    ids = []
    for text in texts:
        ids.append(memory.remember(text, kind="preference").id)
        clock.advance(days=1)
    rows = [(ids[0], ids[1]), (ids[1], ids[2])]
    memory._context.store.relations.add(
        [Relation(parse_id(older), parse_id(newer), "same", "sure", 0.99, "reader test") for older, newer in rows]
    )
    found = memory.recall("how do we write SQL queries?", k=3, lexical_only=True)
    assert [item.id for item in found.items] == [ids[2]] and set(found.also[ids[2]]) == set(ids[:2])
    assert [item.id for item in memory.prepare("").items] == [ids[2]]


def test_the_json_form_has_them_and_comes_back(crowded):
    memory, stored, _ = crowded
    found = memory.recall(QUESTION, k=3, lexical_only=True, explain=True)
    shown = found.as_dict()
    (one,) = [item for item in shown["items"] if "also" in item]
    assert {one["id"], *one["also"]} == set(stored)
    assert Recall.from_dict(shown).also == found.also
    assert found.explained.counts["near-duplicate of a better one"] == 2


def test_a_budget_names_them_too(crowded):
    memory, stored, _ = crowded
    found = memory.recall(QUESTION, k=5, budget_tokens=500, lexical_only=True)
    ((best, also),) = found.also.items()
    assert {best, *also} == set(stored)


@pytest.mark.parametrize(
    "pair",
    [
        ("The API of the shop answers in 30 ms on average", "The API of the shop answers in 90 ms on average"),
        ("Maria owns the deploy of the web shop", "Marta owns the deploy of the web shop"),
        ("The web shop is deployed on 3 May 2026", "The web shop is deployed on 4 May 2026"),
        ("The web shop can be deployed on Fridays", "The web shop can not be deployed on Fridays"),
        ("The web shop runs on Postgres 15 in Berlin", "The web shop runs on Postgres 16 in Berlin"),
    ],
)
@pytest.mark.parametrize("lexical", [True, False])
def test_another_name_number_date_or_a_negation_is_no_duplicate(memory, pair, lexical):
    stored = {memory.remember(text).id for text in pair}
    if not lexical:
        memory.work()
    found = memory.recall(pair[0], lexical_only=lexical)
    assert {one.id for one in found.items} == stored and not found.also


@pytest.mark.parametrize("name", ["speaker", "key", "metadata", "valid_from"])
def test_what_differs_in_what_it_is_about_is_kept(memory, name):
    values = {"speaker": ["Ana", "Ben"], "key": ["a.b", "a.c"], "metadata": [{"a": 1}, {"a": 2}],
              "valid_from": ["2026-01-01", "2026-01-02"]}[name]  # fmt: skip
    kind = "episode" if name == "valid_from" else "fact"
    for text, value in zip(SAME[:2], values, strict=True):
        memory.remember(text, kind=kind, **{name: value})
    found = memory.recall(QUESTION, lexical_only=True)
    assert len(found.items) == 2 and not found.also


def test_a_folded_memory_of_another_scope_is_not_named(memory):
    memory.remember_batch({"content": text} for text in OTHERS)
    here = memory.remember(SAME[0]).id
    memory.in_scope("project:web").remember(SAME[1])
    found = memory.recall(QUESTION, lexical_only=True)
    assert found.items[0].id == here and not found.also


@pytest.mark.parametrize(
    "pair",
    [
        ("The rule is a && b", "The rule is a || b"),
        ("Version constraint is >1.2", "Version constraint is ~1.2"),
        ("Ignore *.log in git", "Ignore .log in git"),
        ("The guard tests ready", "The guard tests !ready"),
        ("Import the parser from .core", "Import the parser from ..core"),
        ("Who owns the billing of the shop?", "Who owns the billing of the shop."),
        ("The release branch is called main", "The release branch is called release, main is for development"),
    ],
    ids=lambda pair: pair[1],
)
@pytest.mark.parametrize("lexical", [True, False])
def test_another_sign_or_a_word_in_its_place_is_no_duplicate(memory, pair, lexical):
    stored = {memory.remember(text).id for text in pair}
    memory.work()
    found = memory.recall(pair[0], lexical_only=lexical)
    assert {one.id for one in found.items} == stored and not found.also


@pytest.mark.parametrize(
    ("pair", "question"),
    [
        (
            (
                "Open the gate with the small brass key on the ring.",
                "Open the gate with the long steel key on the ring.",
            ),
            "what does the small brass key open?",
        ),
        (
            (
                "Pay the piano teacher in cash at the end of the month.",
                "Pay the piano teacher by bank transfer at the end of the month.",
            ),
            "is the piano teacher paid in cash?",
        ),
        (
            (
                "Open url in a new window of the default browser.",
                'Open url in a new page ("tab") of the default browser.',
            ),
            "what opens a new window?",
        ),
        (
            ("Return true if the object is a coroutine function.", "Return true if the object is a coroutine."),
            "is it a coroutine function?",
        ),
        (
            ("Return True if the queue is empty", "Return True if the queue is empty (not reliable)"),
            "how reliable is it that the queue is empty?",
        ),
        (("Log in to the shop with the card", "Log out of the shop with the card"), "how do I log in to the shop?"),
    ],
    ids=lambda one: one if isinstance(one, str) else None,
)
def test_other_words_in_a_place_or_one_more_are_another_fact(memory, pair, question):
    """However near the model finds the two: the one that is asked for must not stand behind the other."""
    memory.remember_batch({"content": text} for text in OTHERS)
    stored = {memory.remember(text).id for text in pair}
    memory.work()
    found = memory.recall(question)
    assert stored <= {one.id for one in found.items} and not found.also


@pytest.mark.parametrize("budget", [None, 500])
def test_of_two_that_say_the_same_the_newer_is_shown(memory, budget):
    memory.remember_batch({"content": text} for text in OTHERS)
    old = memory.remember(SAME[0], valid_from="30 days ago").id
    new = memory.remember(SAME[1]).id
    memory.work(only_vectors=True)

    found = memory.recall(SAME[0], budget_tokens=budget)

    assert found.also[new] == (old,) and old not in {one.id for one in found.items}
    assert new in str(memory.prepare(SAME[0]).as_dict()) and old not in str(memory.prepare(SAME[0]).as_dict())


def test_what_is_trusted_less_is_not_shown_instead(memory):
    old = memory.remember(SAME[0], valid_from="30 days ago").id
    memory.remember(SAME[1], origin="web")
    memory.work(only_vectors=True)
    assert memory.recall(SAME[0]).items[0].id == old
