"""LangGraph's BaseStore: what it answers is what LangGraph's own InMemoryStore answers; items are memories."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta

import pytest

pytest.importorskip("langgraph")

from langgraph.graph import START, StateGraph
from langgraph.store.base import InvalidNamespaceError, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

import limpet
from limpet.features.adapters import documents
from limpet.features.adapters.langgraph import LimpetStore


@pytest.fixture
def store(memory):
    return LimpetStore(memory)


def seen(items):
    """Items without their times and order."""
    return sorted((one.namespace, one.key, repr(one.value)) for one in items)


VALUES = [
    {"text": "Deploys go out on Tuesdays"}, {"text": "deploys go out on tuesdays."}, {}, {"a": None, "b": [1, 2.5, True, "x"]},
    {"n": 1}, {"n": 2, "deep": {"er": {"x": [{"y": "z"}]}}}, {"n": 3, "text": "Ana says \"hi\"\n\tto Bob 😀"}, {"big": 2**60, "small": -0.125},
    {"name": "limit", "value": 7}, {"text": ""},
]  # fmt: skip
NAMESPACES = [("users", "ana"), ("users", "bob"), ("users",), ("docs", "v1", "notes"), ("Users", "ana")]
FILTERS = [None, {"n": {"$ne": 1}}, {"text": {"$eq": ""}}, {"deep": {"er": {"x": [{"y": "z"}]}}}, {"n": 1}]


def put_the_same(stores, dice, steps=40):
    for _ in range(steps):
        namespace, key = dice.choice(NAMESPACES), dice.choice(["one", "two", "Three 3", "ä/ö"])
        value = dice.choice([*VALUES, None])
        for store in stores:
            store.delete(namespace, key) if value is None else store.put(namespace, key, value)


def test_it_keeps_and_finds_what_langgraphs_own_store_does(tmp_path):
    for seed in range(6):
        theirs = InMemoryStore()
        with limpet.open(tmp_path / f"{seed}.db", scope="project:api") as memory:
            ours = LimpetStore(memory)
            put_the_same((ours, theirs), random.Random(seed))
            memory.work()
            for namespace in [*NAMESPACES, (), ("docs",), ("nowhere",)]:
                for wanted in FILTERS:
                    mine, other = (store.search(namespace, filter=wanted, limit=100) for store in (ours, theirs))
                    assert seen(mine) == seen(other)
                for key in ("one", "two", "Three 3", "ä/ö"):
                    mine, other = (store.get(namespace, key) if namespace else None for store in (ours, theirs))
                    assert repr(mine and mine.value) == repr(other and other.value)
            for asked in [{}, {"prefix": ("users",)}, {"prefix": ("*", "ana")}, {"suffix": ("*", "notes")}]:
                # Theirs also lists namespaces in which nothing is.
                full = [
                    one
                    for one in theirs.list_namespaces(**asked)
                    if any(item.namespace == one for item in theirs.search(one))
                ]
                assert ours.list_namespaces(**asked) == full
            assert ours.list_namespaces(max_depth=1) == sorted({one[:1] for one in ours.list_namespaces()})


def test_numbers_are_compared_by_filters(store):
    theirs = InMemoryStore()
    for n in range(5):
        for one in (store, theirs):
            one.put(("scores",), f"s{n}", {"n": n, "text": "score"})
    for wanted in (
        {"n": {"$gt": 2}},
        {"n": {"$gte": 2, "$lt": 4}},
        {"n": {"$lte": "1"}},
        {"n": {"$ne": 0}, "text": "score"},
    ):
        assert seen(store.search(("scores",), filter=wanted)) == seen(theirs.search(("scores",), filter=wanted))
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(("scores",), filter={"n": {"$in": [1]}})


def test_items_that_say_the_same_stay_two(store, memory):
    store.put(("users", "ana"), "food", {"likes": "pizza"})
    store.put(("users", "bob"), "food", {"likes": "pizza"})
    store.put(("users", "bob"), "meal", {"likes": "pizza"})
    memory.work()

    assert len(store.search(("users",), query="who likes pizza?")) == 3
    assert [one.namespace for one in store.search(("users", "ana"), query="who likes pizza?")] == [("users", "ana")]


def test_search_is_by_meaning_and_ranked(store, memory):
    store.put(("facts",), "a", {"text": "The office plants are watered by Bob"})
    store.put(("facts",), "b", {"text": "Releases leave the building on Tuesdays"})
    memory.work()

    found = store.search(("facts",), query="when do we ship new versions?", limit=1)
    assert [one.key for one in found] == ["b"]
    assert found[0].score is not None


def test_only_the_fields_that_are_indexed_are_searched(memory):
    store = LimpetStore(memory, fields=["text"])
    store.put(("n",), "a", {"text": "apples", "secret_plan": "pears"})
    store.put(("n",), "b", {"text": "plums", "note": "cherries"}, index=["note"])
    store.put(("n",), "c", {"text": "quinces"}, index=False)

    texts = " ".join(one.content for one in memory.list().memories)
    assert "apples" in texts and "cherries" in texts
    assert not any(word in texts for word in ("pears", "plums", "quinces"))
    found = store.search(("n",), query="apples")
    assert found[0].key == "a" and (found[-1].key, found[-1].score) == ("c", None)
    assert store.get(("n",), "a").value == {"text": "apples", "secret_plan": "pears"}


def test_times_are_of_the_first_and_the_last_put(store, memory, clock):
    store.put(("n",), "a", {"v": 1})
    first = store.get(("n",), "a").created_at
    clock.advance(seconds=60)
    store.put(("n",), "a", {"v": 2})
    clock.advance(seconds=60)
    store.put(("n",), "a", {"v": 3})

    item = store.get(("n",), "a")
    assert (item.created_at, item.updated_at) == (first, first + timedelta(seconds=120))
    assert [one.metadata["data"] for one in memory.list(all_states=True).memories] == [{"v": 3}, {"v": 2}, {"v": 1}]


def test_items_end_when_their_time_to_live_is_over_and_reading_prolongs_it(memory, clock, monkeypatch):
    monkeypatch.setattr(documents, "now", clock_now(clock))
    monkeypatch.setattr("limpet.features.adapters.langgraph.now", clock_now(clock))
    store = LimpetStore(memory, ttl={"default_ttl": 10, "refresh_on_read": True})
    for key in ("read", "glanced", "left"):
        store.put(("n",), key, {"text": f"{key} pizza"})
    store.put(("n",), "forever", {"text": "pasta"}, ttl=None)
    clock.advance(seconds=6 * 60)
    assert store.get(("n",), "read") and store.get(("n",), "glanced", refresh_ttl=False)
    clock.advance(seconds=6 * 60)

    assert [store.get(("n",), key) is not None for key in ("read", "glanced", "left", "forever")] == [
        True,
        False,
        False,
        True,
    ]
    assert {one.key for one in store.search(("n",), query="pizza pasta")} == {"read", "forever"}
    store.put(("n",), "left", {"text": "left pizza"})
    assert store.get(("n",), "left").value == {"text": "left pizza"}
    store.put(("n",), "left", {"text": "left pizza"}, ttl=None)
    clock.advance(seconds=60 * 60)
    assert {one.key for one in store.search(("n",))} == {"forever", "left"}


def clock_now(clock):
    from limpet.features.adapters.documents import UTC, datetime

    return lambda: datetime.fromtimestamp(clock.now() / 1e6, UTC)


def test_a_batch_reads_what_was_there_before_it(store):
    store.put(("n",), "a", {"v": 1})
    read, *_ = store.batch(
        [SearchOp(("n",)), PutOp(("n",), "a", {"v": 2}), PutOp(("n",), "a", {"v": 3}), ListNamespacesOp()]
    )
    assert [one.value for one in read] == [{"v": 1}]
    assert store.get(("n",), "a").value == {"v": 3}


def test_labels_that_hold_dots_name_nothing(store):
    for op in (
        PutOp(("a.b",), "k", {}),
        SearchOp(("a.b",)),
        ListNamespacesOp((MatchCondition("prefix", ("a.b",)),)),
        PutOp((), "k", {}),
    ):
        with pytest.raises(InvalidNamespaceError):
            store.batch([op])


def test_namespaces_can_have_scopes_of_their_own(memory):
    store = LimpetStore(memory, scope_of=lambda namespace: f"user:{namespace[1]}")
    store.put(("users", "ana"), "food", {"likes": "pizza"})
    store.put(("users", "bob"), "food", {"likes": "pasta"})

    assert (memory.count(), memory.in_scope("user:ana").count(), memory.in_scope("user:bob").count()) == (0, 1, 1)
    assert len(store.search(("users",))) == len(store.search(("users",), query="food that people like")) == 2
    assert store.get(("users", "ana"), "food").value == {"likes": "pizza"}
    assert store.list_namespaces() == [("users", "ana"), ("users", "bob")]


def test_the_namespace_limpet_reads_what_others_remember(store, memory):
    id = memory.remember("Deploys go out on Tuesdays", topics=["deploy"]).id
    store.put(("n",), "a", {"text": "Nobody deploys on a Friday"})

    found = store.search(("limpet",), query="when do we deploy?")
    assert {one.value["text"] for one in found} == {"Deploys go out on Tuesdays", "n/a:\nNobody deploys on a Friday"}
    assert store.get(("limpet",), id).value["topics"] == ["deploy"]
    assert store.get(("limpet",), "nothing") is None
    assert store.search((), query="when do we deploy?")[0].key == "a"
    with pytest.raises(InvalidNamespaceError):
        store.put(("limpet",), "x", {})


def test_a_compiled_graph_remembers_with_it(store):
    async def note(state: dict, *, store) -> dict:
        await store.aput(("users", "ana"), "city", {"text": state["said"]})
        return {"said": (await store.asearch(("users", "ana"), query="where does Ana live?"))[0].value["text"]}

    graph = StateGraph(dict).add_node(note).add_edge(START, "note").compile(store=store)
    assert asyncio.run(graph.ainvoke({"said": "Ana lives in Tampa"})) == {"said": "Ana lives in Tampa"}
