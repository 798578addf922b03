"""Filters, counts and listings: every field of a Filter, every sort, page by page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import limpet
from limpet.model.ids import format_id
from limpet.model.memory import STATES, Filter
from tests import fold
from tests.contract.conftest import ENGINES, Scribe, contents, open_engine, texts_of, walk

HOUR = 3_600_000_000
DAY = 24 * HOUR
START = limpet.FixedClock("2026-03-01T12:00:00Z").now()


def tell(scribe):
    """A small life, an hour between any two events. Each memory is named for what it shows."""

    def later():
        scribe.clock.advance(hours=1)

    made = {}
    for text, given_ in {
        "plain": {"metadata": {"line": 7, "done": True, "author": "Ana", "none": None, "a.b": "x", "part": {"line": 8}}},
        "tagged": {"topics": ["api", "db"]},
        "tagged once": {"topics": ["api"], "metadata": {"line": "7", "done": 1, "author": "Ben"}},
        "decision": {"kind": "decision", "key": "db.Engine", "metadata": {"line": 7.0, "author": "Ana"}, "session": "s", "position": 1},
        "lesson": {"kind": "lesson", "session": "s", "position": 2, "speaker": "Ana"},
        "global session": {"scope": "global", "session": "s", "position": 1},
        "web": {"scope": "project:web", "topics": ["api"]},
        "past": {"valid_from": START - 10 * DAY, "valid_to": START - 5 * DAY},
        "future": {"valid_from": START + 10 * DAY},
        "bounded": {"valid_from": START - DAY, "valid_to": START + DAY},
        "archived": {}, "retracted": {}, "purged": {"topics": ["api"]}, "edited": {}, "undone": {}, "superseded": {},
        "never said": {},
    }.items():  # fmt: skip
        made[text] = scribe.remember(text, **given_)
        later()
    scribe.change("archived", made["archived"])
    later()
    scribe.change("retracted", made["retracted"], why="wrong")
    later()
    scribe.purge(made["purged"])
    later()
    scribe.change("edited", made["edited"], "edited since")
    later()
    edited = scribe.change("edited", made["undone"], "not for long")
    later()
    scribe.undo(edited)
    later()
    scribe.change("superseded", made["superseded"], by=made["plain"].hex(), valid_to=scribe.clock.now())
    later()
    scribe.undo(next(event for event in scribe.store.ledger.events(memory=made["never said"])))
    later()
    for text, uses in (("plain", 1), ("web", 3), ("tagged", 3), ("edited", 2)):
        for _ in range(uses):
            scribe.store.usage.record([made[text]], scribe.clock.now())
        later()
    return made


@pytest.fixture(scope="module", params=ENGINES)
def told(request, tmp_path_factory):
    """A store with that life in it, which these tests only read."""
    opened = open_engine(request.param, tmp_path_factory.mktemp("told"))
    tell(Scribe(opened, limpet.FixedClock(START)))
    yield opened
    opened.close()


BEGAN = [
    "plain", "tagged", "tagged once", "decision", "lesson", "global session", "web", "past", "future", "bounded",
    "archived", "retracted", "", "edited since", "undone", "superseded", "never said",
]  # fmt: skip
ACTIVE = [text for text in BEGAN if text not in ("archived", "retracted", "", "never said")]


def said(store, where):
    """Texts that pass a filter, in the order in which they were first said."""
    return contents(walk(store, where, limit=50, descending=False))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Filter(), ACTIVE),
        (Filter(states=STATES), BEGAN),
        (Filter(states=("archived",)), ["archived"]),
        (Filter(states=("retracted",)), ["retracted", "never said"]),
        (Filter(states=("purged",)), [""]),
        (Filter(states=("archived", "purged")), ["archived", ""]),
        (Filter(scopes=("project:web",)), ["web"]),
        (Filter(scopes=("project:web", "global")), ["global session", "web"]),
        (Filter(scopes=("project",)), []),
        (Filter(scopes=("nowhere", "global")), ["global session"]),
        (Filter(scopes=()), []),
        (Filter(kinds=("decision",)), ["decision"]),
        (Filter(kinds=("decision", "lesson")), ["decision", "lesson"]),
        (Filter(kinds=("goal",)), []),
        (Filter(topics=("api",)), ["tagged", "tagged once", "web"]),
        (Filter(topics=("api", "db")), ["tagged"]),
        (Filter(topics=("ap",)), []),
        (Filter(topics=("api",), states=STATES), ["tagged", "tagged once", "web"]),
        (Filter(session="s"), ["decision", "lesson", "global session"]),
        (Filter(session="s", scopes=("project:api",)), ["decision", "lesson"]),
        (Filter(session="t"), []),
        (Filter(session="s", kinds=("lesson",)), ["lesson"]),
        (Filter(speaker="Ana"), ["lesson"]),
        (Filter(speaker="ana"), []),
        (Filter(key="db.engine"), ["decision"]),
        (Filter(key="db"), []),
        (Filter(metadata=(("line", 7),)), ["plain", "decision"]),
        (Filter(metadata=(("line", 7), ("author", "Ana"), ("done", True))), ["plain"]),
        (Filter(metadata=(("line", "7"),)), ["tagged once"]),
        (Filter(metadata=(("line", True),)), []),
        (Filter(metadata=(("done", 1),)), ["tagged once"]),
        (Filter(metadata=(("a.b", "x"),)), ["plain"]),
        (Filter(metadata=(("part", '{"line": 8}'),)), []),
        (Filter(metadata=(("nothing", 1),)), []),
        (Filter(metadata=(("author", None),), kinds=("decision", "lesson")), ["lesson"]),
        (Filter(metadata=(("none", None), ("line", 7))), ["plain", "decision"]),
        (Filter(metadata=(("line", 7),), known_at=START), ["plain"]),
        (Filter(since=START + 10 * DAY), ["future"]),
        (Filter(since=START + 10 * DAY + 1), []),
        (Filter(until=START - 10 * DAY), []),
        (Filter(until=START - 10 * DAY + 1), ["past"]),
        (Filter(until=START), ["past", "bounded"]),
        (Filter(since=START - DAY, until=START + 1), ["plain", "bounded"]),
        (Filter(since=START, until=START), []),
        (Filter(as_of=START - 10 * DAY - 1), []),
        (Filter(as_of=START - 10 * DAY), ["past"]),
        (Filter(as_of=START - 5 * DAY - 1), ["past"]),
        (Filter(as_of=START - 5 * DAY), []),
        (Filter(as_of=START), ["plain", "bounded"]),
        (Filter(as_of=START + DAY - 1, kinds=("fact",), topics=("db",)), ["tagged"]),
        (Filter(as_of=START + 20 * DAY), [one for one in ACTIVE if one not in ("past", "bounded", "superseded")]),
        (Filter(known_at=START - 1), []),
        (Filter(known_at=START), ["plain"]),
        (Filter(known_at=START + 2 * HOUR - 1), ["plain", "tagged"]),
        (Filter(known_at=START + 2 * HOUR), ["plain", "tagged", "tagged once"]),
        (Filter(known_at=START + 16 * HOUR), [*BEGAN[:12], "edited", "undone", "superseded", "never said"]),
        (Filter(known_at=START + 16 * HOUR, states=("archived",)), []),
        (Filter(known_at=START + 17 * HOUR, states=("archived",)), ["archived"]),
        (Filter(known_at=START + 21 * HOUR, since=START + 13 * HOUR), ["future", "edited since", "not for long", "superseded", "never said"]),
        (Filter(known_at=START + 22 * HOUR, since=START + 13 * HOUR), ["future", "edited since", "undone", "superseded", "never said"]),
        (Filter(known_at=START + 99 * DAY), ACTIVE),
        (Filter(known_at=START + 9 * HOUR, as_of=START), ["plain", "bounded"]),
    ],
    ids=str,
)  # fmt: skip
def test_a_filter_lets_pass_what_it_says(told, where, expected):
    assert said(told, where) == expected
    assert told.listings.count(where) == len(expected)
    having_text = [text for text in expected if text]
    assert sorted(texts_of(told, told.search.allowed(where), where)) == sorted(having_text)


ORDERS = {
    "created": ACTIVE[::-1],
    "updated": ["superseded", "undone", "edited since", *ACTIVE[:-3][::-1]],
    # who was used last or most comes first, then who never was, newest first
    "used": ["edited since", "tagged", "web", "plain"],
    "uses": ["web", "tagged", "edited since", "plain"],
}
UNUSED = [text for text in ACTIVE[::-1] if text not in ORDERS["used"]]
BY_USE = ("used", "uses")


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 50])
@pytest.mark.parametrize("sort", ORDERS)
def test_a_listing_is_the_same_in_pages_of_any_size(told, sort, limit):
    expected = ORDERS[sort] + (UNUSED if sort in BY_USE else [])
    assert contents(walk(told, Filter(), sort=sort, limit=limit)) == expected


@pytest.mark.parametrize("store", ["file"], indirect=True)
@pytest.mark.parametrize("sort", BY_USE)
def test_a_verdict_of_no_use_is_no_use(store, scribe, sort):
    """Never used means newest first, whatever was said of it."""
    old, new = scribe.remember("old"), scribe.remember("new")
    store.usage.record([old], scribe.clock.now(), "wrong")
    assert store.memories.get(old).uses == store.memories.get(new).uses == 0
    assert contents(walk(store, Filter(), sort=sort)) == ["new", "old"]


@pytest.mark.parametrize("limit", [1, 3, 50])
@pytest.mark.parametrize("sort", ORDERS)
def test_a_listing_runs_the_other_way_too(told, sort, limit):
    expected = ORDERS[sort][::-1] + (UNUSED[::-1] if sort in BY_USE else [])
    assert contents(walk(told, Filter(), sort=sort, limit=limit, descending=False)) == expected


@pytest.mark.parametrize("sort", ORDERS)
@pytest.mark.parametrize(
    "scopes", [("project:web",), ("project:web", "global", "nowhere"), ("project:api", "project:web"), ()]
)
def test_a_listing_of_some_scopes_keeps_their_order(told, sort, scopes):
    whole = [one for one in walk(told, Filter(), sort=sort, limit=50) if one.scope in scopes]
    for limit in (1, 2, 50):
        assert walk(told, Filter(scopes=scopes), sort=sort, limit=limit) == whole


@pytest.mark.parametrize("store", ["file"], indirect=True)
def test_a_scope_that_is_named_twice_is_listed_once(store, scribe):
    scribe.remember("one")
    where = Filter(scopes=("project:api", "project:api"))
    assert store.listings.count(where) == 1
    assert contents(walk(store, where)) == ["one"]


def test_memories_of_one_instant_are_listed_by_id(store, scribe):
    written = scribe.write(*(scribe.event("remembered", None, str(i)) for i in range(7)))
    assert contents(walk(store, Filter(), limit=2)) == [event.content for event in reversed(written)]
    assert contents(walk(store, Filter(), limit=2, descending=False)) == [event.content for event in written]


@pytest.mark.parametrize("sort", ["created", "updated"])
def test_what_arrives_or_goes_between_two_pages_shifts_none(store, scribe, sort):
    ids = []
    for i in range(6):
        ids.append(scribe.remember(str(i)))
        scribe.clock.advance(hours=1)
    first = store.listings.page(Filter(), sort=sort, limit=2, cursor=None)
    scribe.remember("new")
    scribe.purge(ids[4])  # the one that the cursor stands at
    scribe.change("archived", ids[2])

    rest = store.listings.page(Filter(), sort=sort, limit=50, cursor=first.cursor)

    assert contents(first) == ["5", "4"]
    assert contents(rest) == ["3", "1", "0"]
    assert rest.cursor is None


def test_the_last_page_is_the_one_without_a_cursor(store, scribe):
    for i in range(4):
        scribe.remember(str(i))
    first = store.listings.page(Filter(), sort="created", limit=2, cursor=None)
    second = store.listings.page(Filter(), sort="created", limit=2, cursor=first.cursor)
    assert (first.cursor is None, second.cursor is None) == (False, True)
    assert contents(first) + contents(second) == ["3", "2", "1", "0"]


@pytest.mark.parametrize("cursor", ["", "x", "é", "AAAA", "none of ours", "A" * 80])
def test_a_cursor_of_nobody_is_bad_input(told, cursor):
    with pytest.raises(limpet.BadInput):
        told.listings.page(Filter(), sort="created", limit=2, cursor=cursor)


def test_a_cursor_belongs_to_its_sort(told):
    cursor = told.listings.page(Filter(), sort="created", limit=2, cursor=None).cursor
    with pytest.raises(limpet.BadInput):
        told.listings.page(Filter(), sort="uses", limit=2, cursor=cursor)


def test_an_unknown_sort_is_bad_input(told):
    with pytest.raises(limpet.BadInput):
        told.listings.page(Filter(), sort="beauty", limit=2, cursor=None)


def test_a_listing_of_the_past_shows_what_was_known(told):
    """Versions as they were, with the instant at which they ended."""
    then = walk(told, Filter(known_at=START + 16 * HOUR), limit=3)
    edited = next(one for one in then if one.content == "edited")
    assert edited.retired_at_us == START + 20 * HOUR
    assert then == [
        told.memories.get(bytes.fromhex(one.id.replace("-", "")), known_at=START + 16 * HOUR) for one in then
    ]


# -- use


def test_use_is_counted_and_its_last_time_kept(store, scribe):
    one, two = scribe.remember("one"), scribe.remember("two")
    now = scribe.clock.now()

    store.usage.record([one, two], now)
    store.usage.record([one], now + 5, "useful")
    store.usage.record([one], now + 3)
    store.usage.record([one], now + 9, "wrong")
    store.usage.record([one], now + 9, "not_useful")
    store.usage.record([b"\x09" * 16], now)

    assert (store.memories.get(one).uses, store.memories.get(one).used_at_us) == (3, now + 5)
    assert (store.memories.get(two).uses, store.memories.get(two).used_at_us) == (1, now)
    assert list(store.usage.rows()) == [
        {"id": one, "uses": 3, "used_at": now + 5, "useful": 1, "not_useful": 1, "wrong": 1},
        {"id": two, "uses": 1, "used_at": now, "useful": 0, "not_useful": 0, "wrong": 0},
    ]


def test_use_is_no_belief_and_makes_no_version(store, scribe):
    id = scribe.remember("one")
    store.usage.record([id], scribe.clock.now())
    scribe.clock.advance(seconds=1)
    scribe.change("edited", id, "two")
    assert [one.uses for one in store.memories.versions(id)] == [1, 1]
    assert len(list(store.ledger.events())) == 2


def test_use_is_forgotten_with_a_purged_memory(store, scribe):
    id = scribe.remember("one")
    store.usage.record([id], scribe.clock.now())
    scribe.purge(id)
    assert (store.memories.get(id).uses, list(store.usage.rows())) == (0, [])


def test_use_counts_are_restored_as_they_were(store, scribe):
    id = scribe.remember("one")
    store.usage.record([id], 5, "useful")
    rows = list(store.usage.rows())
    store.usage.record([id], 9)
    store.usage.restore([*rows, rows[0] | {"id": b"\x09" * 16}])
    assert list(store.usage.rows()) == rows
    assert (store.memories.get(id).uses, store.memories.get(id).used_at_us) == (1, 5)


# -- filters against a loop over what the events say


@pytest.fixture(scope="module")
def life(tmp_path_factory):
    """A store with many memories, and by id what its events say of them."""
    store = open_engine("file", tmp_path_factory.mktemp("life"))
    tell(Scribe(store, limpet.FixedClock(START)))
    yield store, fold.memories(store)
    store.close()


MOMENTS = st.one_of(
    st.none(), st.integers(-1, 30).map(lambda hours: START + hours * HOUR), st.integers(-11, 11).map(lambda days: START + days * DAY)
)  # fmt: skip
FILTERS = st.builds(
    Filter,
    scopes=st.one_of(
        st.none(), st.lists(st.sampled_from(["project:api", "project:web", "global", "no"]), max_size=3, unique=True).map(tuple)
    ),
    kinds=st.lists(st.sampled_from(["fact", "decision", "lesson"]), max_size=2, unique=True).map(tuple),
    topics=st.lists(st.sampled_from(["api", "db"]), max_size=2, unique=True).map(tuple),
    session=st.sampled_from([None, None, "s", "t"]),
    speaker=st.sampled_from([None, None, None, "Ana"]),
    key=st.sampled_from([None, None, None, "db.engine"]),
    metadata=st.lists(
        st.sampled_from([("line", 7), ("line", "7"), ("done", True), ("author", "Ana"), ("author", None)]), max_size=1
    ).map(tuple),
    since=MOMENTS, until=MOMENTS, as_of=MOMENTS, known_at=MOMENTS,
    states=st.lists(st.sampled_from(STATES), min_size=1, max_size=4, unique=True).map(tuple),
)  # fmt: skip


PLACES = {
    "created": lambda one: (0, one.created_at_us),
    "updated": lambda one: (0, one.recorded_at_us),
    "used": lambda one: (0, one.used_at_us) if one.used_at_us else (1, one.created_at_us),
    "uses": lambda one: (0, one.uses) if one.uses else (1, one.created_at_us),
}


@given(FILTERS, st.sampled_from(sorted(ORDERS)), st.integers(1, 6), st.booleans())
def test_a_filter_lets_pass_what_a_loop_over_the_events_does(life, where, sort, limit, descending):
    """By use, memories that were never used follow the others, newest first."""
    store, told = life
    held = [one for made in told.values() if (one := fold.known(made, where.known_at))]
    expected = {one.id for one in held if fold.passes(one, where)}
    shown = walk(store, where, sort=sort, limit=limit, descending=descending)

    assert [one.id for one in shown if one.id in expected] == [one.id for one in shown]
    assert {one.id for one in shown} == expected and len(shown) == len(expected)
    used, unused = ([one for one in shown if PLACES[sort](one)[0] == stage] for stage in (0, 1))
    assert shown == [
        one
        for part in (used, unused)
        for one in sorted(part, key=lambda one: (PLACES[sort](one)[1], one.id), reverse=descending)
    ]
    assert store.listings.count(where) == len(expected)
    found = store.search.candidates(store.search.allowed(Filter(states=STATES)), where)
    assert {format_id(one.id) for one in found} >= {one.id for one in shown if one.content and where.known_at is None}
    assert {format_id(one.id) for one in found} <= expected


def test_a_filter_narrows_when_it_asks_for_more_than_scope_and_time_of_knowledge():
    assert not Filter(scopes=("a",), as_of=1, known_at=2, states=("archived",)).narrows
    for more in ({"kinds": ("fact",)}, {"topics": ("a",)}, {"session": "s"}, {"since": 0}, {"until": 0}):
        assert replace(Filter(), **more).narrows


@pytest.mark.parametrize(
    ("topic", "found"),
    [
        ("draft", 2),
        ("DRAFT", 2),
        ("Draft", 2),
        ("drafts", 0),
        ("übung", 2),
        ("ÜBUNG", 2),
        ("Übung", 2),
        ("rate LIMIT", 1),
        ("ÜBER äpfel", 1),
        ("über ÄPFEL", 1),
    ],
)
def test_a_topic_is_the_same_whatever_its_case(store, scribe, topic, found):
    """An old store holds both forms; `draft` forgot some and left others."""
    scribe.remember("one", topics=["Draft", "Übung"])
    scribe.remember("two", topics=["draft", "übung", "Rate Limit", "über Äpfel"])
    scribe.remember("three", topics=["draftsman", "rate"])

    where = Filter(scopes=("project:api",), topics=(topic,))
    assert store.listings.count(where) == found
    assert len(contents(store.listings.page(where, sort="created", limit=10, cursor=None).memories)) == found
