"""Listings a page at a time, counts, and ids that a person can type."""

from __future__ import annotations

import pytest

import limpet
from limpet.cli.main import main


@pytest.fixture
def many(memory, clock):
    """23 memories in two scopes, a second apart, some used."""
    stored = []
    for i in range(23):
        scope = "global" if i % 5 == 0 else "project:api"
        stored.append(memory.remember_batch([{"content": f"line {i}", "scope": scope}])[0].id)
        clock.advance(seconds=1)
    for i in (3, 3, 8, 15, 15, 15):
        memory.show(stored[i])
        clock.advance(seconds=1)
    return stored


def walk(memory, between=lambda: None, **asked):
    """All pages of a listing, and their lengths."""
    found, cursor = [], None
    while True:
        page = memory.list(cursor=cursor, **asked)
        found += [one.id for one in page.memories]
        cursor = page.cursor
        if cursor is None:
            return found
        assert len(page.memories) == asked["limit"]
        between()


@pytest.mark.parametrize("sort", ["created", "updated", "used", "uses"])
@pytest.mark.parametrize("limit", [1, 7, 23])
def test_pages_show_everything_once_though_memories_arrive_between(memory, clock, many, sort, limit):
    whole = [one.id for one in memory.list(sort=sort, limit=1_000).memories]

    def arrive():
        clock.advance(seconds=1)
        memory.remember(f"newcomer {clock.now()}")

    seen = walk(memory, arrive, sort=sort, limit=limit)

    assert len(seen) == len(set(seen))
    assert [id for id in seen if id in many] == whole
    assert set(whole) == set(many)


def test_each_sort_has_its_order(memory, clock, many):
    memory.pin(many[4])

    def order(sort):
        return [one.id for one in memory.list(sort=sort, limit=5).memories]

    assert order("created") == many[:17:-1]
    assert order("updated") == [many[4], *many[:18:-1]]
    assert order("used") == [many[15], many[8], many[3], many[22], many[21]]
    assert order("uses") == [many[15], many[3], many[8], many[22], many[21]]


def test_memories_of_one_moment_are_paged_by_id(memory):
    stored = [one.id for one in memory.remember_batch({"content": f"line {i}"} for i in range(10))]
    assert walk(memory, sort="created", limit=3) == sorted(stored, reverse=True)


@pytest.mark.parametrize("cursor", ["", "x", "AAAA", "%%%", "ä", "A" * 500, "\0"])
def test_a_cursor_of_nothing_is_refused(memory, many, cursor):
    with pytest.raises(limpet.BadInput, match="cursor"):
        memory.list(cursor=cursor)


def test_a_cursor_belongs_to_its_sort(memory, many):
    cursor = memory.list(limit=2, sort="created").cursor
    with pytest.raises(limpet.BadInput, match="cursor"):
        memory.list(cursor=cursor, sort="updated")


@pytest.mark.parametrize(
    "asked", [{"limit": 0}, {"limit": 10_001}, {"limit": True}, {"sort": "size"}, {"kind": ["x"]}], ids=str
)
def test_a_bad_listing_is_refused(memory, asked):
    with pytest.raises(limpet.BadInput):
        memory.list(**asked)


def test_count_counts_what_list_shows(memory, clock):
    memory.remember("one", kind="opinion", topics=["a"], session="s")
    gone = memory.remember("two").id
    memory.remember_batch([{"content": "three", "scope": "project:web"}])
    memory.archive(gone)
    memory.remember("four", valid_from="2030-01-01")

    for asked, expected in (
        ({}, 1), ({"all_states": True}, 3), ({"kind": ["opinion"]}, 1), ({"kind": "fact"}, 0), ({"topics": ["a"]}, 1),
        ({"session": "s"}, 1), ({"session": "t"}, 0), ({"since": "2027-01-01", "all_states": True}, 1),
        ({"until": "2027-01-01"}, 1),
    ):  # fmt: skip
        assert memory.count(**asked) == len(memory.list(**asked).memories) == expected, asked


def test_an_empty_store_lists_nothing(memory):
    page = memory.list()
    assert (page.memories, page.cursor) == ([], None)
    assert memory.count() == 0


def test_stats_count_the_whole_store(memory, clock):
    started = clock.now()
    memory.remember_batch(
        [{"content": "a", "session": "s", "kind": "note"}, {"content": "b", "scope": "global", "kind": "goal"}]
    )
    clock.advance(days=1)
    memory.archive(memory.remember("c").id)

    found = memory.stats()

    assert (found.memories, found.versions, found.events, found.sessions) == (3, 4, 4, 1)
    assert found.by_kind == {"goal": 1, "note": 1}
    assert found.by_scope == {"project:api": 1, "global": 1}
    assert found.by_state == {"active": 2, "archived": 1}
    assert (found.waiting_jobs, found.vectors, found.dead_jobs) == (3, 0, 0)
    assert (found.oldest_us, found.newest_us) == (started, clock.now())
    assert found.file_bytes > 0


def test_abbreviated_ids_name_their_memories(memory, many):
    short = memory.abbreviate(many)

    assert [memory.get(one).id for one in short] == many
    assert all(6 <= len(one) <= 8 for one in short) and len(set(short)) == len(short)
    with pytest.raises(limpet.BadInput):
        memory.abbreviate(["zz"])


def test_an_id_is_found_by_any_unambiguous_way_to_write_it(memory):
    id = memory.remember("text", id="01890000-0000-7000-8000-0000000000ab").id

    for way in (id, id.upper(), id.replace("-", ""), "018900", f"  {id} ", "01890000-0000-7"):
        assert memory.get(way).id == id


def test_an_ambiguous_prefix_names_its_candidates(memory):
    stored = [memory.remember(f"text {i}", id=f"01890000-0000-7000-8000-00000000000{i}").id for i in range(3)]

    with pytest.raises(limpet.AmbiguousId) as error:
        memory.get("018900000")

    assert error.value.candidates == stored
    assert error.value.as_dict()["candidates"] == stored
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    "prefix",
    ["01890", "", "%", "018900%", "______", "0189000_", "*" * 8, "u" * 8, "g" * 9, "0" * 33, "\0" * 8, "01890ä"],
)
def test_what_is_no_prefix_is_refused(memory, prefix):
    memory.remember("text", id="01890000-0000-7000-8000-000000000001")
    with pytest.raises(limpet.BadInput):
        memory.get(prefix)


def test_an_unknown_prefix_is_not_found(memory):
    with pytest.raises(limpet.NotFound):
        memory.get("ffffffff")


def test_a_page_says_how_the_rest_is_seen(memory, many, path, capsys):
    def run(*words):
        assert main(["--store", str(path), "--scope", memory.scope, "list", *words]) == 0
        return capsys.readouterr()

    total = memory.count()
    out, err = run("--limit", "2")
    [more] = err.splitlines()
    rest = run(*more.removeprefix("more: ").split(), "--limit", str(total))
    assert len(out.splitlines()) + len(rest.out.splitlines()) == total and rest.err == ""
