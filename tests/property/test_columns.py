"""A recall from arrays is the recall from rows, score by score, whatever happened to the store, and in which process."""

from __future__ import annotations

import os
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import limpet
from limpet.rank import constants
from limpet.store import lexical
from limpet.store.arrays import columns, postings
from limpet.store.sql.search import FollowingArrays
from limpet.store.sqlite import search as fulltext

pytestmark = pytest.mark.usefixtures("arrays_of_few_texts")

WORDS = "rate limit is 100 per minute deploys deploy on friday never Berlin WAL rate_limit café 東京 don't retry user api Vertrag Verträge договор договоры 계약서를 계약서는".split()
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
TOPICS = st.lists(st.sampled_from(["api", "rate limit", "ops", "😀"]), max_size=2, unique=True)
STEPS = st.one_of(
    st.tuples(st.just("remember"), st.lists(st.tuples(TEXTS, TOPICS, st.integers(0, 99)), min_size=1, max_size=12)),
    st.tuples(st.sampled_from(["edit", "correct"]), TEXTS),
    st.tuples(st.just("tag"), TOPICS),
    st.tuples(
        st.sampled_from(["retract", "archive", "restore", "pin", "unpin", "purge", "undo", "use", "rebuild", "work"]),
        st.none(),
    ),
)
FILTERS = (
    {},
    {"lexical_only": True},
    {"without": ["lexical"], "k": 50},
    {"kind": ["fact"], "topics": ["api"]},
    {"topics": ["rate limit", "api"]},
    {"topics": ["😀"]},
    {"session": "s1"},
    {"speaker": "Ana"},
    {"metadata": {"line": 7}},
    {"since": "2026-03-01", "budget_tokens": 60},
)


class Checksums:
    """An embedder that is quick and means nothing."""

    name = fingerprint = "checksums"
    dimensions = 8

    def embed_passages(self, texts):
        found = np.array([np.random.default_rng(zlib.crc32(one.encode())).normal(size=8) for one in texts])
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)

    def embed_query(self, text):
        return self.embed_passages([text])[0]


@pytest.fixture(params=["as it is", "with small limits"])
def limits(request, monkeypatch):
    """Everything that happens in large stores alone happens in small ones too."""
    if request.param == "as it is":
        return
    for place, name, value in (
        (lexical, "SMALL_STORE", 0), (lexical, "ROW_BUDGET", 4), (lexical, "LARGE_STORE", 12), (lexical, "COMMON_SHARE", 3),
        (constants, "LEXICAL_CANDIDATES", 3), (constants, "VECTOR_CANDIDATES", 3), (constants, "NEIGHBOURHOODS", 2),
        (columns, "SLICE", 4), (columns, "MAX_UNSORTED", 5),
        (postings, "SLICE", 9), (postings, "READ_AT_ONCE", 3), (postings, "MAX_ADDED", 5),
    ):  # fmt: skip
        monkeypatch.setattr(place, name, value)


def same_recalls(memory, queries, **more):
    kept = memory._context.store.search.arrays.current
    for query in queries:
        quick = memory.recall(query, explain=True, **more)
        memory._context.store.search.arrays.current = lambda deadline=None, **_: None
        plain = memory.recall(query, explain=True, **more)
        memory._context.store.search.arrays.current = kept
        assert [(one.id, one.score, one.why) for one in quick.items] == [
            (one.id, pytest.approx(one.score, rel=1e-12), one.why) for one in plain.items
        ]
        assert (quick.missing, quick.truncated) == (plain.missing, plain.truncated)


def act(memory, step, given_, ids, clock):
    if step == "remember":
        ids += [
            one.id
            for one in memory.remember_batch(
                {
                    "content": text, "topics": topics, "kind": ("fact", "opinion", "note")[n % 3], "importance": n / 100,
                    "session": (None, "s1", "s2")[n % 3], "speaker": (None, "user", "Ana")[n % 3],
                    "scope": ("project:api", "global", "user:x")[n % 3], "metadata": {"who": WORDS[n % 7]},
                }
                for text, topics, n in given_
            )
        ]  # fmt: skip
    elif step == "work":
        memory.work()
    elif step == "rebuild":
        memory.rebuild()
    elif step == "undo":
        memory.undo()
    elif ids:
        id = ids[clock.now() // 1_000_000 % len(ids)]
        if step == "tag":
            memory.tag(id, given_, [])
        elif step == "use":
            memory.show(id)
        elif step == "purge":
            memory.purge(id, confirm=True)
        elif step == "retract":
            memory.retract(id, "wrong")
        elif step == "unpin":
            memory.pin(id, off=True)
        elif given_ is None:
            getattr(memory, step)(id)
        else:
            getattr(memory, step)(id, given_)


@settings(
    max_examples=int(os.environ.get("LIMPET_FUZZ", "15")),
    phases=tuple(p for p in Phase if p is not Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(st.tuples(STEPS, st.booleans(), st.sampled_from(FILTERS), TEXTS), min_size=3, max_size=15))
def test_arrays_answer_as_rows_do(limits, life):
    clock = limpet.FixedClock("2026-03-01T12:00:00Z")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        more = {"scope": "project:api", "clock": clock, "embedder": Checksums()}
        with limpet.open(path, **more) as ours, limpet.open(path, **more) as theirs:
            ids: list[str] = []
            ours._context.store.search.arrays.current()  # as after a first recall
            for (step, given_), by_us, asked, query in life:
                clock.advance(hours=7, seconds=1)
                try:
                    act(ours if by_us else theirs, step, given_, ids, clock)
                except limpet.LimpetError:
                    continue
                same_recalls(ours, [query, "deploy", f"why {query}"], **asked)


@pytest.fixture
def read_beside(monkeypatch):
    """Every store is too large for recalls to read it themselves."""
    monkeypatch.setattr(columns, "READ_BY_RECALLS", 0)
    monkeypatch.setattr(columns, "SLICE", 3)
    monkeypatch.setattr(postings, "SLICE", 9)
    monkeypatch.setattr(lexical, "SMALL_STORE", 0)


def all_there(memory):
    """Ask until what is read ahead is there."""
    for _ in range(2_000):
        memory.recall("deploy")
        ahead = memory._context.store.search.arrays._ahead
        if memory._context.store.search.arrays._made is not None and ahead is None:
            return
        if ahead is not None:
            ahead.join(0.01)
    raise AssertionError("it never is")


def some(count):
    return [" ".join(WORDS[(n * step + n) % len(WORDS)] for step in range(1, 5)) + f" n{n}" for n in range(count)]


def test_what_is_read_ahead_answers_as_rows_do(read_beside, tmp_path):
    """Before all is read, after that, and after others wrote."""
    with (
        limpet.open(tmp_path / "m.db", embedder=Checksums()) as ours,
        limpet.open(tmp_path / "m.db", embedder=Checksums()) as theirs,
    ):
        ours.remember_batch({"content": text} for text in some(60))
        ours.work()
        for _ in range(5):
            same_recalls(ours, ["deploy friday", "n7 limit"])
        all_there(ours)
        assert ours._context.store.search.arrays._made[1].all_read
        same_recalls(ours, ["deploy friday", "n7 limit"])
        for number in range(30):
            theirs.remember(f"deploy number {number} fails")
            same_recalls(ours, ["deploy friday", f"number {number}"])
        theirs.remember_batch({"content": text + " again"} for text in some(90))
        same_recalls(ours, ["deploy friday again"])
        all_there(ours)
        same_recalls(ours, ["deploy friday again", "n80"])


def test_a_store_that_is_closed_while_it_is_read_stays_closed(read_beside, tmp_path):
    memory = limpet.open(tmp_path / "m.db", embedder=Checksums())
    memory.remember_batch({"content": text} for text in some(200))
    for _ in range(3):
        memory.recall("deploy")
    ahead = memory._context.store.search.arrays._ahead
    memory.close()
    if ahead is not None:
        ahead.join(10)
        assert not ahead.is_alive()


def test_words_whose_lists_are_not_there_are_left_out_when_time_is_short(read_beside, tmp_path, monkeypatch):
    """And the answer says so."""
    monkeypatch.setattr(FollowingArrays, "_read_ahead", lambda self: None)
    monkeypatch.setattr(columns, "SECONDS_PER_WORD", 1.0)
    with limpet.open(tmp_path / "m.db", embedder=Checksums()) as memory:
        memory.remember_batch({"content": text} for text in some(60))
        memory.recall("deploy")
        with memory._context.store.snapshot():
            memory._context.store.search.arrays.current()
            held = memory._context.store.search.arrays._made[1]
            while not held.refresh(memory._context.store.data_version(), None, seconds=0.01):
                pass
        found = memory.recall("deploy friday", lexical_only=True, deadline_ms=10_000)
        assert "lexical" in found.missing
        assert "lexical" not in memory.recall("deploy friday", lexical_only=True).missing


def test_a_search_that_no_clock_can_stop_is_not_begun(tmp_path, monkeypatch):
    monkeypatch.setattr(fulltext, "SECONDS_PER_TEXT", 1.0)
    with limpet.open(tmp_path / "m.db", embedder=Checksums()) as memory:
        memory.remember_batch({"content": text} for text in some(60))
        assert "lexical" in memory.recall("deploy", lexical_only=True, deadline_ms=1_000).missing
        assert memory.recall("deploy", lexical_only=True).items


def test_lists_that_do_not_fit_make_room_for_others(tmp_path, monkeypatch):
    monkeypatch.setattr(postings, "MAX_HELD", 40)
    monkeypatch.setattr(postings, "MAX_READ_AHEAD", 20)
    monkeypatch.setattr(postings, "SLICE", 9)
    monkeypatch.setattr(lexical, "SMALL_STORE", 0)
    with limpet.open(tmp_path / "m.db", embedder=Checksums()) as memory:
        memory.remember_batch({"content": text} for text in some(80))
        memory.recall("deploy")
        for query in (*WORDS, "n7 n8 n9", "n70 user"):
            same_recalls(memory, [query])
        assert memory._context.store.search.arrays._made[1].postings._held <= 80
