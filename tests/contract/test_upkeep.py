"""The care of a store: counted, checked, rebuilt from its ledger, copied, made smaller."""

from __future__ import annotations

import pytest

import limpet
from limpet.model.memory import STATES, Filter
from limpet.store.records import AGAIN
from limpet.store.sqlite.database import SqliteStore
from limpet.text.describe import describe
from tests.contract.conftest import POSTGRES, body_of, contents, walk
from tests.contract.test_listings import tell
from tests.contract.test_vectors import DIMENSIONS, embed, slots


def everything(store):
    """Every version of every memory, every event and every use."""
    ids = dict.fromkeys(event.memory for event in store.ledger.events())
    return [store.memories.versions(id) for id in ids], list(store.ledger.events()), list(store.usage.rows())


@pytest.fixture
def lived(store, scribe):
    """A store with a life behind it: all states, links, an undo, vectors, use."""
    made = tell(scribe)
    scribe.change("linked", made["plain"], edge="supports", target=made["web"].hex())
    row = store.vectors.register("words:1", "words", DIMENSIONS)
    some = store.jobs.due(2**60, first=(), most=5)[1]
    embed(store, row, some)
    store.jobs.finish("embed", some)
    return store


def test_a_store_is_counted(store, scribe):
    assert store.maintenance.stats().memories == 0
    one = scribe.remember("one", session="s", position=1)
    scribe.clock.advance(hours=1)
    scribe.remember("two", kind="lesson", scope="global", session="s", position=1)
    scribe.change("edited", one, "ONE")
    scribe.change("archived", scribe.remember("three"))
    scribe.purge(scribe.remember("four"))

    stats = store.maintenance.stats()

    assert (stats.memories, stats.versions, stats.events, stats.sessions) == (3, 6, 7, 2)
    assert (stats.vectors, stats.waiting_jobs, stats.dead_jobs) == (0, 4, 0)
    assert stats.by_kind == {"fact": 1, "lesson": 1}
    assert stats.by_scope == {"project:api": 1, "global": 1}
    assert stats.by_state == {"active": 2, "archived": 1, "purged": 1}
    assert (stats.oldest_us, stats.newest_us) == (scribe.clock.now() - 3_600_000_000, scribe.clock.now())
    assert stats.file_bytes > 0 and stats.free_bytes >= 0


def test_a_store_that_was_lived_in_is_sound(lived):
    assert lived.maintenance.verify() == []


@pytest.mark.parametrize("store", ["file"], indirect=True)
def test_a_sound_store_is_sound_whenever_it_is_asked(store, scribe):
    """Checked, written to, checked again, by one long-lived process."""
    found = []
    for part in range(6):
        scribe.write(
            *(scribe.event("remembered", None, f"item {part} {i} " + f"word{part}x{i} " * 40) for i in range(100))
        )
        found += store.maintenance.verify()
    assert found == []


def test_a_rebuild_believes_the_same(lived):
    before, bodies = everything(lived), lived.search.allowed(Filter(states=STATES))
    stats, steps = lived.maintenance.stats(), []

    assert lived.maintenance.rebuild(lambda done, total: steps.append((done, total))) == len(before[1])

    assert everything(lived) == before
    assert sorted(lived.search.allowed(Filter(states=STATES))) == sorted(bodies)
    assert lived.maintenance.stats()._replace(file_bytes=0, free_bytes=0) == stats._replace(file_bytes=0, free_bytes=0)
    assert lived.maintenance.verify() == []
    assert steps[-1] == (len(before[1]), len(before[1]))
    assert lived.search.lexical("decision", Filter(), limit=5).hits


def test_a_rebuild_keeps_listings_and_neighbours(lived):
    def lists():
        rows = {one.content: one.num for one in lived.search.candidates(lived.search.allowed(Filter()), Filter())}
        near = lived.search.neighbours([rows["decision"]], Filter(), reach=1)
        return [
            walk(lived, Filter(states=STATES), sort=sort) for sort in ("created", "updated", "used", "uses")
        ], contents(near)

    before = lists()
    lived.maintenance.rebuild()
    assert lists() == before


def test_a_rebuild_of_nothing_is_nothing(store):
    assert store.maintenance.rebuild() == 0
    assert store.maintenance.verify() == []


def test_a_rebuild_leaves_vectors_where_they_are(lived):
    row = lived.vectors.embedder()
    before, waiting = slots(lived, row).keys(), lived.jobs.due(2**60, first=(), most=99)
    lived.maintenance.rebuild()
    assert slots(lived, row).keys() == before
    assert lived.jobs.due(2**60, first=(), most=99) == waiting


def test_a_rebuild_leaves_the_work_for_a_new_embedder(store, scribe):
    body = body_of(store, scribe.remember("one"))
    old = store.vectors.register("words:1", "words", DIMENSIONS)
    embed(store, old, [body])
    store.jobs.finish("embed", [body])
    store.vectors.register("words:2", "words", DIMENSIONS)

    store.maintenance.rebuild()

    assert [store.jobs.backlog(kind, scribe.clock.now()) for kind in (AGAIN, "embed")] == [1, 0]


@pytest.mark.parametrize("store", ["file", "memory"], indirect=True)
def test_a_backup_is_a_store_with_the_same_in_it(lived, tmp_path):
    target, steps = str(tmp_path / "copy.db"), []
    lived.maintenance.backup(target, lambda done, total: steps.append((done, total)))
    copy = SqliteStore(target, describe)

    assert everything(copy) == everything(lived)
    row = copy.vectors.embedder()
    assert row == lived.vectors.embedder()
    assert slots(copy, row).keys() == slots(lived, row).keys()
    assert copy.maintenance.verify() == []
    assert steps[-1][0] == steps[-1][1] > 0
    copy.close()
    assert [path.name for path in tmp_path.glob("copy.db*")] == ["copy.db"]


@pytest.mark.parametrize("store", ["file", "memory"], indirect=True)
def test_a_backup_is_a_copy_and_no_twin(lived, scribe, tmp_path):
    lived.maintenance.backup(str(tmp_path / "copy.db"))
    scribe.remember("said later")
    copy = SqliteStore(str(tmp_path / "copy.db"), describe, read_only=True)
    assert copy.listings.count(Filter()) == lived.listings.count(Filter()) - 1
    copy.close()


@pytest.mark.parametrize("store", ["file", "memory"], indirect=True)
def test_a_backup_overwrites_nothing_and_makes_no_folder(lived, tmp_path):
    (tmp_path / "there").write_text("precious")
    for target in (tmp_path / "there", tmp_path / "no" / "copy.db", tmp_path):
        with pytest.raises(limpet.BadInput):
            lived.maintenance.backup(str(target))
    assert (tmp_path / "there").read_text() == "precious"


@pytest.mark.parametrize("store", ["file", "memory"], indirect=True)
def test_a_compacted_store_is_smaller_and_the_same(store, scribe):
    ids = [scribe.remember(f"{i} " + "word " * 2_000) for i in range(20)]
    for id in ids[1:]:
        scribe.purge(id)
    before = everything(store)

    report = store.maintenance.compact()

    assert report["after_bytes"] < report["before_bytes"]
    assert everything(store) == before
    assert store.maintenance.verify() == []
    assert store.maintenance.stats().free_bytes == 0
    scribe.remember("a write afterwards")


@pytest.mark.parametrize("store", [POSTGRES], indirect=True)
def test_what_the_server_does_is_refused_by_name(store, tmp_path):
    """Backups of a database are made by its own tools."""
    with pytest.raises(limpet.BadInput) as error:
        store.maintenance.backup(str(tmp_path / "copy.db"))
    assert "pg_dump" in error.value.hint
    assert list(tmp_path.glob("*.db")) == []


# -- who may read what, when


@pytest.mark.parametrize("store", ["file"], indirect=True)
def test_a_snapshot_is_one_state_of_the_store(store, scribe):
    scribe.remember("one")
    other = SqliteStore(store.path, describe)
    with other.snapshot():
        assert other.listings.count(Filter()) == 1
        scribe.remember("two")
        with other.snapshot():
            assert other.listings.count(Filter()) == 1
        assert other.listings.count(Filter()) == 1
        assert len(list(other.ledger.events())) == 1
    assert other.listings.count(Filter()) == 2
    other.close()


def test_a_snapshot_that_fails_is_over(store, scribe):
    scribe.remember("one")
    with pytest.raises(RuntimeError), store.snapshot():
        assert store.listings.count(Filter()) == 1
        raise RuntimeError("inside")
    scribe.remember("two")
    assert store.listings.count(Filter()) == 2


@pytest.mark.parametrize("store", ["file"], indirect=True)
def test_a_read_only_store_reads_and_refuses_every_write(lived, scribe):
    reader = SqliteStore(lived.path, describe, read_only=True)
    row = reader.vectors.embedder()
    assert reader.read_only
    assert everything(reader) == everything(lived)
    assert reader.maintenance.verify() == []
    writes = (
        lambda: reader.ledger.commit(lambda _: []), lambda: reader.ledger.append([]), lambda: reader.usage.record([], 0),
        lambda: reader.usage.restore([]), lambda: reader.vectors.register("x", "x", 1),
        lambda: reader.vectors.add(row.num, []), lambda: reader.jobs.enqueue("x", [1], 0), lambda: reader.jobs.finish("x", [1]),
        lambda: reader.jobs.lease("x", limit=1, at=0, until=1), lambda: reader.jobs.finish("x", [1]),
        lambda: reader.jobs.fail("x", [1], error="", not_before=0, dead=False), reader.jobs.revive, reader.maintenance.rebuild, reader.maintenance.compact,
    )  # fmt: skip
    for write in writes:
        with pytest.raises(limpet.StoreReadOnly):
            write()
    scribe.remember("written by another handle")
    assert reader.listings.count(Filter()) == lived.listings.count(Filter())
    reader.close()


def test_a_closed_store_closes_again(store, scribe):
    scribe.remember("one")
    store.close()
    store.close()
    with pytest.raises(limpet.StoreError):
        store.listings.count(Filter())


def test_a_closed_store_answers_with_an_error_of_ours(store, scribe):
    scribe.remember("one")
    store.close()
    with pytest.raises(limpet.StoreError):
        store.listings.count(Filter())
    with pytest.raises(limpet.StoreError):
        scribe.remember("two")


@pytest.mark.parametrize("store", ["file"], indirect=True)
def test_what_was_written_is_there_when_the_store_is_opened_again(lived):
    before = everything(lived)
    lived.close()
    again = SqliteStore(lived.path, describe)
    assert everything(again) == before
    assert again.maintenance.verify() == []
    again.close()


def test_the_ledger_mark_moves_with_events_and_use_alone(scribe):
    store = scribe.store
    marks = [store.ledger.watermark()]
    memory = scribe.remember("one")
    marks.append(store.ledger.watermark())
    store.usage.record([memory], 5)
    marks.append(store.ledger.watermark())
    scribe.change("archived", memory)
    marks.append(store.ledger.watermark())
    assert len(set(marks)) == 4
    store.listings.page(Filter(), sort="created", limit=5, cursor=None)
    assert store.ledger.watermark() == marks[-1]
