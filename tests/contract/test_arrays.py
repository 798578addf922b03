"""The arrays of a long process know no engine: whoever feeds them, they find the same, score by score."""

from __future__ import annotations

import pytest

from limpet.model.memory import Filter
from limpet.recall.candidates import other_forms
from limpet.recall.index_ram import RamIndex
from limpet.store import lexical
from limpet.store.arrays import columns, postings
from tests.contract.conftest import EVERYTHING, POSTGRES, Scribe, open_engine

pytestmark = pytest.mark.usefixtures("arrays_of_few_texts")

QUERIES = (
    "deploy limit",
    "rate limit of the api",
    "Berlin 東京",
    "deploys on friday and march",
    "nothing of this",
    "Verträge договоры 계약서는",
    "",
)
FILTERS = (
    Filter(),
    EVERYTHING,
    Filter(scopes=("project:api",)),
    Filter(scopes=("nowhere",)),
    Filter(topics=("rate limit",)),
    Filter(topics=("Rate LIMIT",)),
    Filter(topics=("api", "ops"), kinds=("fact",)),
    Filter(session="s"),
)


@pytest.fixture(params=["few texts", "many texts"])
def size(request, monkeypatch):
    """What happens in large stores alone happens in small ones too."""
    if request.param == "many texts":
        monkeypatch.setattr(lexical, "SMALL_STORE", 0)
        monkeypatch.setattr(lexical, "ROW_BUDGET", 4)
        monkeypatch.setattr(columns, "SLICE", 3)
        monkeypatch.setattr(postings, "SLICE", 11)
        monkeypatch.setattr(postings, "READ_AT_ONCE", 3)


@pytest.fixture(params=[POSTGRES])
def engines(request, tmp_path, clock):
    """A scribe at SQLite and at another engine; both draw the same ids, and both have been asked once."""
    opened = [Scribe(open_engine(name, tmp_path), clock) for name in ("file", request.param)]
    for one in opened:
        one.store.search.arrays.current()
    yield opened
    for one in opened:
        one.store.close()


def answers(store):
    """All that the arrays say about a few questions. Rows and numbers of scopes and sessions are an engine's own."""
    held = store.search.arrays.current()
    index, found = RamIndex(held), []
    everything = index.allowed(EVERYTHING)
    for where in FILTERS:
        allowed = index.allowed(where)
        table = index.table(allowed)
        found.append((allowed, index.passing(everything, where), index.neighbours(allowed[:2], where, reach=1)))
        found.append((table.ids, table.positions, table.speakers))
        found.append((table.valid_from, table.sizes, table.asked, table.keyed))
        found.append(table.priors)
        for query in QUERIES:
            hits = index.text_hits(query, where, deadline=None, forms=(forms := other_forms(store, query)))
            said, having = index.words(allowed, hits.stems, forms)
            found.append((query, hits.text_ids, hits.stems, hits.weight, hits.absent, said, having))
            found.append([hits.scores[one] for one in sorted(hits.text_ids)])
    return found


def alike(engines):
    file, other = (answers(one.store) for one in engines)
    assert file == other


def test_arrays_answer_alike_whichever_engine_feeds_them(size, engines, clock):
    """After each thing that can happen to a store."""
    made = {}

    def both(act):
        clock.advance(hours=7)
        several = [act(one) for one in engines]
        assert several[0] == several[1] or not isinstance(several[0], bytes)
        alike(engines)
        return several[0]

    for number, (text, given) in enumerate(
        [
            ("The rate limit is 100 per minute", {"topics": ["api", "rate limit"], "importance": 0.8}),
            ("Deploys never run on Friday", {"topics": ["ops"], "session": "s", "position": 1, "speaker": "Ana"}),
            ("Why not?", {"session": "s", "position": 2, "speaker": "user"}),
            (
                "Berlin and 東京 have an api each",
                {"scope": "global", "kind": "opinion", "metadata": {"file": "api.py"}},
            ),
            ("Deploy deploy deploy", {"session": "s", "position": 3, "topics": ["limit", "rate"]}),
            ("The limit of the api is 100", {"key": "api.limit", "confidence": 0.4}),
            ("Der Vertrag endet, договор остаётся, 계약서를 보냈다", {"topics": ["Vertrages"]}),
        ]
    ):
        made[number] = both(lambda one, text=text, given=given: one.remember(text, **given))
    both(lambda one: one.change("edited", made[0], "The rate limit is 200 a minute") and None)
    both(lambda one: one.change("tagged", made[1], topics=["rate limit", "api"], metadata={"who": "friday"}) and None)
    both(lambda one: one.change("archived", made[5]) and None)
    both(lambda one: one.store.usage.record([made[3]], clock.now()))
    both(lambda one: one.change("restored", made[5]) and None)
    both(lambda one: one.purge(made[2]) and None)
    both(lambda one: one.change("retracted", made[4], reason="wrong") and None)
    for number in range(12):
        both(lambda one, number=number: one.remember(f"deploy {number} of march keeps the limit", topics=["api"]))


def test_a_feed_says_what_changed(store, scribe):
    """And a revision that was given before is answered with what came after it."""
    first = scribe.remember("one")
    scribe.remember("two")
    store.search.arrays.current()
    store.search.arrays.current()
    feed, _ = store.search.arrays._made

    begun = feed.changes(None)
    assert (begun.anew, begun.last, begun.used) == (True, 2, False)
    same = feed.changes(begun.revision)
    assert (same.anew, same.last, list(same.text_ids)) == (False, 2, [])

    scribe.change("edited", first, "three")
    edited = feed.changes(begun.revision)
    assert (edited.anew, edited.last, sorted(edited.text_ids)) == (False, 3, [1, 3])
    assert list(feed.changes(edited.revision).text_ids) == []

    scribe.purge(first)
    assert feed.changes(edited.revision).anew


def test_a_feed_gives_texts_in_order_and_a_past_one_has_no_memory(store, scribe):
    first = scribe.remember("one two three", topics=["a b"])
    scribe.remember("two")
    scribe.change("edited", first, "four")
    store.search.arrays.current()
    store.search.arrays.current()
    feed, _ = store.search.arrays._made

    assert list(feed.texts_after(0, most=2)["text_id"]) == [1, 2]
    assert list(feed.texts_after(2, most=2)["content"]) == ["four"]
    assert [row is None for row in feed.texts_after(0, most=9)["row"]] == [True, False, False]
    assert list(feed.texts_after(3, most=9)["text_id"]) == []
    assert list(feed.texts([2])["content"]) == ["two"]


def test_a_feed_gives_words_in_order_with_their_places(store, scribe):
    scribe.remember("one two", topics=["two three"])
    scribe.remember("two")
    store.search.arrays.current()
    store.search.arrays.current()
    words = store.search.arrays._made[0].words

    assert words.totals()[0] == 2
    assert (words.frequency("two"), words.frequency("never")) == (2, 0)
    assert words.occurrences("two").tolist() == [1 * 8, 1 * 8 + 1, 2 * 8]
    assert words.occurrences("two", most=1).tolist() == [8]
    assert words.occurrences("never").tolist() == []

    def after(word, most):
        stems, sizes, places, more = words.lists_after(word, most=most)
        return stems, sizes, places.tolist(), more

    assert after("thr", 6) == (["three", "two"], [1, 3], [1 * 8 + 1, 1 * 8, 1 * 8 + 1, 2 * 8], True)
    assert after("thr", 4)[:3] == (["three"], [1], [1 * 8 + 1])
    assert (after("three", 2)[0], after("three", 2)[2:]) == (["two"], ([], True))
    assert after("two", 9)[0][0].startswith("\ue000"), "scopes are words too"
    assert after("two", 9)[3] is False
    assert [one.content for one in words.texts([2])] == ["two"]
    assert [text_id for text_id, _ in words.with_topic_words("two three")] == [1]
    assert words.with_topic_words("three two") == []
