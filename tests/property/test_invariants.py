"""What holds for any text, any scope, any query: nothing leaks, nothing breaks, nothing is lost on the way."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import limpet
from tests.unit.test_vectors import index_of

WORDS = st.sampled_from(
    ["rate", "limit", "is", "100", "per", "minute", "deploy", "never", "Berlin", "WAL", "café", "東京", "don't", "😀"]
)
TEXTS = st.one_of(
    st.lists(WORDS, min_size=1, max_size=5).map(" ".join),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=60).filter(str.strip),
)
SCOPES = st.sampled_from(["project:api", "project:web", "project:ap", "project", "global", "user:é", "a'b", "%"])
QUERIES = st.one_of(
    st.text(max_size=80),
    TEXTS,
    st.lists(st.sampled_from(['"', "(", ")", "*", "^", "-", ":", "AND ", "NEAR(", "x", " "]), max_size=12).map("".join),
)


def unit(random, n):
    vectors = random.normal(size=(n, 384)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def opened(scope="project:api"):
    return limpet.open(":memory:", scope=scope, clock=limpet.FixedClock("2026-03-01T12:00:00Z"))


@given(st.lists(st.tuples(SCOPES, TEXTS), min_size=1, max_size=12), SCOPES)
def test_no_text_leaves_its_scope(said, scope):
    with opened(scope) as memory:
        memory.remember_batch({"content": text, "scope": place, "session": "s"} for place, text in said)
        for query in {text for _, text in said}:
            for item in memory.recall(query, lexical_only=True, k=50).items:
                assert item.scope in (scope, "global")
        assert {one.scope for one in memory.list().memories} <= {scope, "global"}
        assert memory.count() == len(memory.list().memories)


@settings(max_examples=8)
@given(st.lists(st.tuples(SCOPES, TEXTS), min_size=1, max_size=5), SCOPES)
def test_no_vector_leaves_its_scope(said, scope):
    with opened(scope) as memory:
        memory.remember_batch({"content": text, "scope": place} for place, text in said)
        memory.work()
        found = memory.recall(said[0][1], without=["lexical"], k=50).items
        assert {one.id for one in found} == {one.id for one in memory.list().memories}


@given(st.lists(TEXTS, min_size=1, max_size=8), QUERIES)
def test_any_query_is_answered_with_what_was_said(texts, query):
    with opened() as memory:
        stored = {one.id for one in memory.remember_batch({"content": text} for text in texts)}
        found = memory.recall(query, lexical_only=True, k=50, explain=True)
        assert {one.id for one in found.items} <= stored
        assert len({one.id for one in found.items}) == len(found.items)
        scores = [one.score for one in found.items]
        assert scores == sorted(scores, reverse=True)
        assert all(map(math.isfinite, scores))
        assert memory.recall(query, lexical_only=True, k=50).items == [
            type(one)(**{name: getattr(one, name) for name in one.__slots__} | {"why": None}) for one in found.items
        ]


@given(TEXTS)
def test_what_is_stored_is_what_was_said(text):
    with opened() as memory:
        receipt = memory.remember(text, metadata={"again": text})
        if not receipt.redacted:
            assert memory.get(receipt.id).content == text
            assert memory.get(receipt.id).metadata == {"again": text}
        assert memory.remember(text).status == "observed"


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 4)), max_size=40, unique_by=lambda pair: pair[0]),
    st.one_of(st.none(), st.lists(st.integers(1, 5), max_size=3)),
    st.one_of(st.none(), st.lists(st.integers(1, 45), max_size=20)),
    st.lists(st.integers(1, 9), min_size=1, max_size=9),
)
def test_a_scan_orders_as_brute_force_does(seed, slots, scopes, allowed, steps):
    """The int8 scan, a portion at a time, against NumPy over all codes at once. Body 0 is an empty slot."""
    random = np.random.default_rng(seed)
    vectors, query = unit(random, len(slots)), unit(random, 1)[0]
    index, _ = index_of(vectors, [body for body, _ in slots], [scope for _, scope in slots])

    scan = index.search(query, scopes=scopes)
    if allowed is not None:
        scan.restrict(allowed)
    found = [body for step in steps for body in scan.take(step)]

    visible = [
        body for body, scope in slots
        if body and (scopes is None or scope in scopes) and (allowed is None or body in allowed)
    ]  # fmt: skip
    score = dict(zip(visible, scan.score_of(visible), strict=True))
    assert found == sorted(visible, key=lambda body: (-score[body], body))[: sum(steps)]
    exact = {body: float(vectors[i] @ query) for i, (body, _) in enumerate(slots)}
    assert all(abs(score[body] - exact[body]) < 0.02 for body in visible)


@given(
    st.lists(st.tuples(SCOPES, TEXTS, st.lists(WORDS, max_size=2)), min_size=1, max_size=8),
    st.lists(
        st.tuples(
            st.sampled_from(["edit", "archive", "pin", "correct", "retract", "purge", "undo"]), st.integers(0, 7)
        ),
        max_size=8,
    ),
)
def test_export_then_import_is_the_identity(said, changes):
    with opened() as memory, opened() as other:
        stored = memory.remember_batch(
            {"content": text, "scope": scope, "topics": topics} for scope, text, topics in said
        )
        for verb, place in changes:
            id, seen = stored[place % len(stored)].id, said[place % len(stored)][0] in ("project:api", "global")
            more = {"edit": ["other words"], "correct": ["better words"], "retract": ["wrong"]}.get(verb, [])
            try:
                if not seen:
                    with pytest.raises(limpet.NotFound):
                        memory.get(id)
                elif verb == "undo":
                    memory.undo()
                else:
                    getattr(memory, verb)(id, *more, **({"confirm": True} if verb == "purge" else {}))
            except limpet.BadInput:
                continue
        first, second = io.StringIO(newline=""), io.StringIO(newline="")
        memory.export_to("jsonl", first)
        first.seek(0)
        report = other.import_from("jsonl", first, trust=True)
        other.export_to("jsonl", second)

        assert report.rejected == []
        assert second.getvalue() == first.getvalue()
        shown = [[one.as_dict() for one in store.list(all_states=True).memories] for store in (memory, other)]
        assert shown[0] == shown[1]
