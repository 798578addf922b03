"""Search signals: what each finds, and that none finds more than its filter lets pass."""

from __future__ import annotations

import time

import pytest

from limpet.model.memory import STATES, Filter
from limpet.store.sqlite.database import SqliteStore
from limpet.text.describe import describe
from tests.contract.conftest import body_of, contents, texts_of


def found(store, text, where=None, **more):
    """What a text finds, best first; the search itself keeps to scopes and topics, the candidates to the filter."""
    where = where or Filter()
    hits = store.search.lexical(text, where, limit=50, **more).hits
    passing = {one.text_id for one in store.search.candidates(hits, where)}
    return texts_of(store, [body for body in hits if body in passing], where)


def test_candidates_hold_what_ranking_needs(store, scribe):
    now = scribe.clock.now()
    id = scribe.remember(
        "The limit is 100", kind="decision", scope="team", session="s", position=3, speaker="Ana", importance=0.75,
        confidence=0.5, pinned=True, valid_from=now - 5, origin="user",
    )  # fmt: skip
    store.usage.record([id], now + 1)

    (one,) = store.search.candidates([body_of(store, id), 999, -1, 0], Filter())

    assert (one.id, one.content, one.kind) == (id, "The limit is 100", "decision")
    assert (one.position, one.speaker, one.valid_from, one.labels) == (3, "Ana", now - 5, "Ana")
    assert (one.importance, bool(one.pinned), one.trust, one.stated_confidence) == (0.75, True, "user", 0.5)
    assert (one.observations, one.observed_at, one.uses, one.used_at) == (1, now, 1, now + 1)
    assert store.memories.by_rows([one.num]) == [store.memories.get(id)]


def test_candidates_are_those_of_the_bodies_that_pass(store, scribe):
    here, there = scribe.remember("here"), scribe.remember("there", scope="global")
    bodies = store.search.texts_of([here, there])
    assert sorted(contents(store.search.candidates(bodies, Filter()))) == ["here", "there"]
    assert contents(store.search.candidates(bodies, Filter(scopes=("global",)))) == ["there"]
    assert contents(store.search.candidates(bodies[:1], Filter(scopes=("global",)))) == []
    assert contents(store.search.candidates([], Filter())) == []
    assert contents(store.search.candidates(iter(bodies[:1]), Filter())) == ["here"]


def test_an_older_version_is_a_candidate_only_of_its_time(store, scribe):
    then = scribe.clock.now()
    id = scribe.remember("one")
    old = store.search.texts_of([id])
    scribe.clock.advance(hours=1)
    scribe.change("edited", id, "two")
    new = store.search.texts_of([id])

    both = [*old, *new]
    assert contents(store.search.candidates(both, Filter())) == ["two"]
    assert contents(store.search.candidates(both, Filter(known_at=then))) == ["one"]
    assert texts_of(store, store.search.allowed(Filter(known_at=then)), Filter(known_at=then)) == ["one"]


def test_memories_come_in_the_order_asked_for(store, scribe):
    for text in ("one", "two", "three"):
        scribe.remember(text)
    rows = {one.content: one.num for one in store.search.candidates(store.search.allowed(Filter()), Filter())}
    assert contents(store.memories.by_rows([rows["two"], rows["three"], rows["one"]])) == ["two", "three", "one"]
    assert store.memories.by_rows([]) == []


def test_bodies_are_those_of_what_is_current_and_has_a_text(store, scribe):
    one, two = scribe.remember("one"), scribe.remember("two")
    scribe.change("archived", one)
    scribe.purge(two)
    assert texts_of(store, store.search.texts_of([two, one, b"\x09" * 16]), Filter(states=STATES)) == ["one"]
    assert store.search.texts_of([]) == []


@pytest.fixture
def talk(store, scribe):
    """Six turns of a session, and others that are not of it."""
    made = {text: scribe.remember(text, session="s", position=i) for i, text in enumerate("abcdef", 1)}
    made["other session"] = scribe.remember("other session", session="t", position=2)
    made["other scope"] = scribe.remember("other scope", session="s", position=2, scope="global")
    made["alone"] = scribe.remember("alone")
    return made


@pytest.mark.parametrize(
    ("given", "reach", "expected"),
    [("c", 1, "bd"), ("c", 2, "abde"), ("a", 1, "b"), ("f", 9, "abcde"), ("ce", 1, "bddf"), ("cd", 1, "bcde"), ("c", 0, "")],
)  # fmt: skip
def test_neighbours_are_the_places_around_in_the_same_session(store, talk, given, reach, expected):
    rows = {one.content: one.num for one in store.search.candidates(store.search.allowed(Filter()), Filter())}
    near = store.search.neighbours([rows[text] for text in given], Filter(), reach=reach)
    assert sorted(set(contents(near)) - set(given)) == sorted(set(expected) - set(given))


def test_neighbours_pass_the_filter_too(store, scribe, talk):
    scribe.change("archived", talk["b"])
    scribe.purge(talk["d"])
    rows = {one.content: one.num for one in store.search.candidates(store.search.allowed(Filter()), Filter())}
    assert contents(store.search.neighbours([rows["c"]], Filter(), reach=1)) == []
    assert contents(store.search.neighbours([rows["c"]], Filter(states=("archived",)), reach=1)) == ["b"]
    assert store.search.neighbours([rows["alone"], rows["other scope"], rows["other session"]], Filter(), reach=9) == []
    assert store.search.neighbours([], Filter(), reach=9) == []


# -- words


def test_words_find_texts_topics_metadata_speakers_and_dates(store, scribe):
    scribe.remember("Deploys run on Friday", topics=["release-train"], metadata={"file": "zeppelin.py", "n": [4711]}, speaker="Ludwig")  # fmt: skip
    scribe.remember("Something else entirely")
    for query in ("deploy", "DEPLOYING", "friday", "release", "train", "zeppelin", "4711", "ludwig", "march", "2026"):
        assert found(store, query)[0] == "Deploys run on Friday", query
    assert found(store, "file") == [], "names of metadata are no words of it"
    assert found(store, "nothing of this") == []


def test_the_best_hit_is_the_first_and_higher_is_better(store, scribe):
    for text in (
        "the cat sleeps",
        "the cat sleeps on the warm radiator",
        "a dog barks",
        "a bird sings",
        "a fish swims",
    ):
        scribe.remember(text)
    result = store.search.lexical("warm radiator cat", Filter(), limit=10)
    assert texts_of(store, result.hits) == [
        "the cat sleeps on the warm radiator",
        "the cat sleeps",
    ]
    first, second, *_ = result.hits.values()
    assert first > second > 0
    assert (set(result.stems), result.complete) == ({"warm", "radiat", "cat"}, True)
    assert result.weight == pytest.approx(sum(result.stems.values()))


def test_a_hit_in_a_topic_counts_and_short_texts_are_stemmed_alike(store, scribe):
    for text, topics in (("one thing", ["zebras"]), ("a zebra", []), ("x", []), ("y", []), ("z", [])):
        scribe.remember(text, topics=topics)
    result = store.search.lexical("zebra", Filter(), limit=9)
    assert set(texts_of(store, result.hits)) == {"one thing", "a zebra"}
    assert store.search.stems(["Zebras run", ""]) == {"Zebras run": {"zebra", "run"}, "": set()}
    assert set(result.stems) == {"zebra"}


@pytest.mark.parametrize(
    "query",
    ["", " ", '"', "'", "cat AND", "NEAR(cat", "(", "cat OR dog)", "-cat", "text : cat", "cat*", "^cat", "{cat}", "\0", "cat\0",
     "%", "_", "\\", "é" * 500, "a" * 100_000, "cat " * 2_000, "\ud800", "東京", "😀", "body_fts", "scope"],
    ids=lambda query: ascii(query[:80]),
)  # fmt: skip
@pytest.mark.parametrize("store", ["memory"], indirect=True)
def test_any_query_is_words_and_nothing_else(store, scribe, query):
    scribe.remember("the cat sleeps")
    scribe.remember("something else")
    result = store.search.lexical(query, Filter(), limit=5)
    assert set(texts_of(store, result.hits)) <= {"the cat sleeps"}
    if "\ud800" not in query:
        store.search.substring(query, Filter(), limit=5)


def test_a_word_that_looks_like_an_engines_own_mark_is_a_word(store, scribe):
    for i in range(6):
        scribe.remember(f"text {i} of it", scope=f"scope{i % 3}")
    scribe.remember("backups go to S3", scope="scope0")
    for query in ("s1", "s2", "s3"):
        assert found(store, query) == (["backups go to S3"] if query == "s3" else [])


FILTERED = [
    (Filter(), {"api cat", "web cat", "old cat", "session cat"}),
    (Filter(scopes=("project:web",)), {"web cat"}),
    (Filter(scopes=("nowhere",)), set()),
    (Filter(scopes=()), set()),
    (Filter(kinds=("lesson",)), {"web cat"}),
    (Filter(topics=("pets",)), {"api cat"}),
    (Filter(session="s"), {"session cat"}),
    (Filter(states=("archived",)), {"archived cat"}),
    (Filter(states=("retracted", "archived")), {"archived cat", "retracted cat"}),
]


@pytest.mark.parametrize(("where", "expected"), FILTERED, ids=[str(where) for where, _ in FILTERED])
def test_every_signal_keeps_to_its_filter(store, scribe, where, expected):
    scribe.remember("api cat", topics=["pets"])
    scribe.remember("web cat", scope="project:web", kind="lesson")
    scribe.remember("session cat", session="s", position=1)
    scribe.remember("old cat", valid_to=scribe.clock.now())
    scribe.change("archived", scribe.remember("archived cat"))
    scribe.change("retracted", scribe.remember("retracted cat"), why="x")
    scribe.purge(scribe.remember("purged cat"))
    for i in range(10):
        scribe.remember(f"noise {i}", scope=f"noise{i}")

    def cats(bodies):
        return {text for text in texts_of(store, bodies, where) if "cat" in text}

    assert set(found(store, "cat", where)) == expected
    assert cats(store.search.substring("cat", where, limit=50)) == expected
    assert cats(store.search.allowed(where)) == expected


def test_words_of_the_past_are_found_there_and_only_there(store, scribe):
    then = scribe.clock.now()
    id = scribe.remember("the zebra sleeps")
    scribe.remember("something else")
    scribe.clock.advance(hours=1)
    scribe.change("edited", id, "the lion sleeps")
    past = Filter(known_at=then)

    assert (found(store, "zebra"), found(store, "lion")) == ([], ["the lion sleeps"])
    assert (found(store, "zebra", past), found(store, "lion", past)) == (["the zebra sleeps"], [])
    scribe.purge(id)
    assert found(store, "zebra", past) == found(store, "lion") == []


def test_changed_topics_and_metadata_are_found_at_once(store, scribe):
    id = scribe.remember("a statement", topics=["before"], metadata={"x": "earlier"})
    scribe.remember("something else")
    scribe.change("tagged", id, topics=["after"], metadata={"x": "later"})
    assert found(store, "after") == found(store, "later") == ["a statement"]
    assert found(store, "before") == found(store, "earlier") == []


def test_a_limit_is_kept_and_filtered_hits_do_not_count(store, scribe):
    for i in range(30):
        scribe.remember(f"cat number {i}", scope="project:web" if i % 3 else "project:api")
    for i in range(40):
        scribe.remember(f"filler {i}")
    where = Filter(scopes=("project:api",))
    assert len(store.search.lexical("cat", where, limit=4).hits) == 4
    assert store.search.lexical("cat", where, limit=4).more
    assert len(found(store, "cat", where)) == 10
    assert len(store.search.substring("cat", where, limit=4)) == 4


def test_in_a_large_store_rare_words_decide_and_filters_still_hold(store, scribe):
    """More texts than an engine weighs by hand: the same answers as in a small one."""
    scribe.write(
        *(scribe.event("remembered", None, f"filler text number {i} of many", scope=f"s{i % 3}") for i in range(400))
    )
    scribe.remember("the okapi grazes", scope="s1")
    scribe.remember("the okapi sleeps", scope="s2")
    assert sorted(found(store, "okapi among filler text")[:2]) == ["the okapi grazes", "the okapi sleeps"]
    assert found(store, "okapi", Filter(scopes=("s1",))) == ["the okapi grazes"]
    assert found(store, "okapi", Filter(scopes=("s0",))) == []
    result = store.search.lexical("okapi", Filter(), limit=5)
    assert result.complete and result.weight > 0
    assert store.search.lexical("number", Filter(), limit=5, deadline=time.monotonic() + 60).complete


def test_a_deadline_that_is_past_ends_a_search_with_what_there_is(store, scribe):
    scribe.write(
        *(scribe.event("remembered", None, f"some text number{i % 300} " + "and more words " * 20) for i in range(600))
    )
    result = store.search.lexical(" ".join(f"number{i}" for i in range(300)), Filter(), limit=5, deadline=0.0)
    assert len(result.hits) <= 5
    assert store.search.lexical("number7", Filter(), limit=5).complete


def test_a_piece_of_a_word_is_found_as_it_stands(store, scribe):
    for text in ("The zeppelin_42 flies", "50% off", "a\\b", "ZEPPELIN"):
        scribe.remember(text, metadata={"x": "dirigible"} if text == "50% off" else {})
        scribe.clock.advance(seconds=1)

    def pieces(text):
        return texts_of(store, store.search.substring(text, Filter(), limit=9))

    assert pieces("eppel") == ["ZEPPELIN", "The zeppelin_42 flies"]
    assert pieces("n_4") == ["The zeppelin_42 flies"]
    assert pieces("0%") == pieces("rigib") == ["50% off"]
    assert pieces("\\") == ["a\\b"]
    assert pieces("%%") == pieces("") == pieces("  ") == []


@pytest.mark.parametrize("store", ["file"], indirect=True)
def test_a_signal_sees_what_another_handle_wrote(scribe, store):
    scribe.remember("something else")
    other = SqliteStore(store.path, describe)
    assert found(other, "zebra") == []
    scribe.remember("the zebra sleeps")
    assert found(other, "zebra") == ["the zebra sleeps"]
    other.close()
