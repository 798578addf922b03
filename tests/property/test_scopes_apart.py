"""What another scope has changes no answer: neither which memories are found, nor their scores, nor what is said of them."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import limpet
from tests import postgres_server
from tests.property.test_columns import WORDS, Checksums, limits  # noqa: F401

pytestmark = pytest.mark.usefixtures("arrays_of_few_texts")
HERE, THERE = "project:api", "project:web"
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
TOPICS = st.lists(st.sampled_from(["api", "rate limit"]), max_size=2, unique=True)
STEPS = st.one_of(
    st.tuples(st.just("remember"), st.lists(st.tuples(TEXTS, TOPICS), min_size=1, max_size=12)),
    st.tuples(st.sampled_from(["correct", "edit"]), TEXTS),
    st.tuples(st.sampled_from(["move", "retract", "archive", "purge", "use", "wrong"]), st.none()),
)
ASKED = (
    {"lexical_only": True}, {}, {"lexical_only": True, "topics": ["rate limit"]}, {"topics": ["api"], "k": 50},
    {"lexical_only": True, "known_at": "2026-03-04"}, {"known_at": "2026-03-04"}, {"since": "2026-03-02", "budget_tokens": 60},
)  # fmt: skip


def act(memory, scope, ids, step, given_, number):
    if step == "remember":
        receipts = memory.remember_batch(
            {"content": text, "topics": topics, "scope": scope, "session": (None, f"{scope} s")[n % 2], "speaker": (None, "Ana")[n % 2]}
            for n, (text, topics) in enumerate(given_)
        )  # fmt: skip
        ids += [receipt.id for receipt in receipts]
    elif ids:
        id = ids[number % len(ids)]
        if step == "purge":
            memory.purge(id, confirm=True)
        elif step == "retract":
            memory.retract(id, "wrong")
        elif step == "use":
            memory.show(id)
        elif step == "wrong":
            memory.feedback(id, "wrong")
        elif step == "move":
            memory.move([id], THERE if scope == HERE else "project:old")
        elif given_ is None:
            getattr(memory, step)(id)
        else:
            getattr(memory, step)(id, given_)


def of(answer):
    return answer.as_dict() | {"elapsed_ms": 0}


def answers(memory, queries, near, *, rows):
    """All that the faces are given of some questions, but how long it took."""
    arrays = memory._context.store.search.arrays
    if rows:
        arrays.current = lambda deadline=None, **_: None
    told = []
    for query in queries:
        for asked in ASKED:
            told.append(of(memory.recall(query, explain=True, **asked)))
        told += [of(memory.recall_sessions(query)), of(memory.prepare(query))]
    with contextlib.suppress(limpet.NotFound):  # purged
        told.append(of(memory.related(near)))
    vars(arrays).pop("current", None)
    return told


LIVES = st.lists(st.tuples(st.booleans(), STEPS), min_size=4, max_size=12)
SOME = settings(
    max_examples=int(os.environ.get("LIMPET_FUZZ", "8")),
    phases=tuple(p for p in Phase if p is not Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


def try_life(place, life, query, *, rows=False):
    clock = limpet.FixedClock("2026-03-01T12:00:00Z")
    more = {"clock": clock, "embedder": Checksums()}
    with limpet.open(place, scope=HERE, **more) as here, limpet.open(place, scope=THERE, **more) as there:
        ours, theirs = [here.remember("api").id], [there.remember("api").id]
        here.work()
        for number, (mine, (step, given_)) in enumerate(life):
            clock.advance(hours=7, seconds=1)
            before = None if mine else answers(here, [query, "deploy"], ours[0], rows=rows)
            try:
                act(*((here, HERE, ours) if mine else (there, THERE, theirs)), step, given_, number)
            except limpet.LimpetError:
                continue
            if mine:
                here.work()
            else:
                assert answers(here, [query, "deploy"], ours[0], rows=rows) == before


@SOME
@given(LIVES, TEXTS)
@pytest.mark.parametrize("rows", [True, False])
def test_what_another_scope_gets_or_loses_changes_no_answer(limits, rows, life, query):  # noqa: F811
    with tempfile.TemporaryDirectory() as folder:
        try_life(Path(folder) / "memory.db", life, query, rows=rows)


@pytest.mark.xdist_group("postgres")
@pytest.mark.skipif(postgres_server.missing() is not None, reason=str(postgres_server.missing()))
@settings(SOME, max_examples=int(os.environ.get("LIMPET_FUZZ", "3")))
@given(LIVES, TEXTS)
def test_nor_does_it_on_postgres(limits, life, query):  # noqa: F811
    try_life(postgres_server.url_of(os.urandom(8).hex()), life, query, rows=True)


@pytest.fixture
def both(tmp_path, clock):
    """(a handle of one scope, a handle of another) on one store."""
    more = {"clock": clock, "embedder": Checksums()}
    path = tmp_path / "memory.db"
    with limpet.open(path, scope=HERE, **more) as here, limpet.open(path, scope=THERE, **more) as there:
        yield here, there


@pytest.mark.parametrize("rows", [True, False])
def test_a_word_that_another_scope_often_has_is_searched_for_here(both, rows):
    """A store of 6,000 texts leaves out words that a tenth of them has: a tenth of those that are seen."""
    here, there = both
    texts = ["We deploy by hand", "Lunch is on friday", *(f"Note {n} on the limit" for n in range(20))]
    own = [receipt.id for receipt in here.remember_batch({"content": text} for text in texts)][:2]
    asked = {"lexical_only": True, "trace": True}
    if rows:
        here._context.store.search.arrays.current = lambda deadline=None, **_: None
    before = [here.recall("deploy friday", **asked) for _ in range(2)][-1]
    assert {item.id for item in before.items} == set(own)
    for batch in range(6):
        there.remember_batch({"content": f"They deploy build {batch}-{n} again and again"} for n in range(1_000))
    assert here.recall("deploy friday", **asked).items == before.items


def test_a_part_of_a_word_is_found_whatever_was_edited_elsewhere(both):
    here, there = both
    here.remember("The Hatzenbuehler file is closed")
    here.remember("Lunch is on friday")
    id = there.remember("rate").id
    here.work()
    there.edit(id, "rate limit")
    there.work()
    found = {item.content: item.why.signals["lexical"].raw for item in here.recall("atzenbu", trace=True).items}
    assert found == {"The Hatzenbuehler file is closed": 1.0, "Lunch is on friday": 0.0}
