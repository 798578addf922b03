"""Vectors of texts: stored once, read by chunks, gone with their text, one embedder at a time."""

from __future__ import annotations

import numpy as np
import pytest

import limpet
from limpet.model.memory import STATES, Filter
from limpet.store.records import AGAIN
from limpet.vectors.index import VectorIndex, encode_for_store
from tests.contract.conftest import body_of

DIMENSIONS = 16


def vectors(n, seed=0, dimensions=DIMENSIONS):
    made = np.random.default_rng(seed).normal(size=(n, dimensions)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def embed(store, row, bodies, seed=0, dimensions=DIMENSIONS, **more):
    return store.vectors.add(row.num, encode_for_store(bodies, vectors(len(bodies), seed, dimensions)), **more)


def slots(store, row):
    """body -> (code, scale, scope number) of everything in the chunks."""
    found = {}
    for chunk in store.vectors.chunks(row.num, {})[0]:
        codes = np.frombuffer(chunk.codes, np.int8).reshape(chunk.used, DIMENSIONS)
        columns = (
            np.frombuffer(chunk.scales, "<f4"),
            np.frombuffer(chunk.text_ids, "<i8"),
            np.frombuffer(chunk.scopes, "<i4"),
        )
        assert [len(column) for column in columns] == [chunk.used] * 3
        for code, scale, body, scope in zip(codes, *columns, strict=True):
            if body:
                assert body not in found
                found[int(body)] = (code, float(scale), int(scope))
    return found


@pytest.fixture
def row(store):
    return store.vectors.register("words:1", "words", DIMENSIONS)


def test_a_store_has_one_embedder(store):
    assert store.vectors.embedder() is None
    first = store.vectors.register("words:1", "words", DIMENSIONS)

    assert (first.fingerprint, first.name, first.dimensions) == ("words:1", "words", DIMENSIONS)
    assert (first.has_vectors, first.is_complete) == (False, True)
    assert store.vectors.register("words:1", "words", DIMENSIONS) == store.vectors.embedder() == first
    with pytest.raises(limpet.BadInput):
        store.vectors.register("words:1", "words", DIMENSIONS + 1)


def test_how_cosines_lie_is_kept_with_an_embedder(store, row):
    assert row.calibration is None
    store.vectors.calibrate(row.num, (0.7, 0.8, 0.75))
    gauged = row._replace(calibration=(0.7, 0.8, 0.75))
    assert store.vectors.register("words:1", "words", DIMENSIONS) == store.vectors.embedder() == gauged


def test_a_vector_is_kept_exactly_and_as_a_code(store, scribe, row):
    bodies = [body_of(store, scribe.remember(text, scope=scope)) for text, scope in (("one", "a"), ("two", "b"))]
    assert embed(store, row, bodies) == 2

    wanted = vectors(2)
    exact = dict(store.vectors.exact(row.num, [*bodies, 999]))
    stored = slots(store, row)
    assert set(exact) == set(stored) == set(bodies)
    for body, vector in zip(bodies, wanted, strict=True):
        assert (np.frombuffer(exact[body], np.float16) == vector.astype(np.float16)).all()
        code, scale, _ = stored[body]
        assert np.allclose(code * scale, vector, atol=0.02)
    assert [stored[body][2] for body in bodies] == store.search.scope_numbers(["a"]) + store.search.scope_numbers(["b"])
    assert store.search.scope_numbers(["nowhere"]) == store.search.scope_numbers([]) == []
    assert store.vectors.exact(row.num, []) == []
    assert store.maintenance.verify() == []


def test_a_text_has_one_vector_of_an_embedder(store, scribe, row):
    body = body_of(store, scribe.remember("one"))
    assert embed(store, row, [body]) == 1
    first = store.vectors.exact(row.num, [body])
    assert embed(store, row, [body], seed=1) == 0
    assert store.vectors.exact(row.num, [body]) == first
    assert len(slots(store, row)) == 1


def test_vectors_of_texts_that_are_gone_are_not_stored(store, scribe, row):
    """They may go while a worker embeds."""
    id = scribe.remember("one")
    body = body_of(store, id)
    scribe.purge(id)
    assert embed(store, row, [body]) == 0
    assert embed(store, row, []) == 0
    assert slots(store, row) == {}


def test_adding_vectors_finishes_their_jobs_in_one_go(store, scribe, row):
    scribe.remember("one")
    now = scribe.clock.now()
    (job,) = store.jobs.lease("embed", limit=9, at=now, until=now + 9)
    embed(store, row, [job.subject], done=[job.subject])
    assert store.maintenance.stats().waiting_jobs == 0
    assert store.maintenance.stats().vectors == 1


def test_only_chunks_that_changed_are_read_again(store, scribe, row):
    bodies = [body_of(store, scribe.remember(f"text {i}")) for i in range(4)]
    embed(store, row, bodies[:2])
    (chunk,), present = store.vectors.chunks(row.num, {})
    known = {chunk.num: chunk.version}
    assert present == [chunk.num]
    assert store.vectors.chunks(row.num, known) == ([], present)
    scribe.remember("text without a vector")
    assert store.vectors.chunks(row.num, known) == ([], present)

    embed(store, row, bodies[2:])

    (changed,), _ = store.vectors.chunks(row.num, known)
    assert changed.version != chunk.version
    assert changed.used == 4
    assert store.vectors.chunks(999, {}) == ([], [])


def test_many_vectors_fill_chunk_after_chunk(store, scribe, row):
    scribe.write(*(scribe.event("remembered", None, f"text {i}") for i in range(2_100)))
    bodies = store.search.allowed(Filter())
    assert embed(store, row, bodies[:1_000]) == 1_000
    first, _ = store.vectors.chunks(row.num, {})
    assert embed(store, row, bodies[900:]) == 1_100

    chunks, present = store.vectors.chunks(row.num, {})

    assert [chunk.num for chunk in chunks] == present[::-1] == sorted(present, reverse=True)
    assert store.vectors.chunks(row.num, {}, most=1) == (chunks[:1], present)
    assert sum(chunk.used for chunk in chunks) == 2_100
    assert all(chunk.used <= 1_024 for chunk in chunks)
    assert set(slots(store, row)) == set(bodies)
    assert chunks[-1].codes[: first[0].used * DIMENSIONS] == first[0].codes
    assert store.maintenance.verify() == []


def test_a_purged_text_leaves_no_vector_behind(store, scribe, row):
    ids = [scribe.remember(text) for text in ("one", "two", "three")]
    bodies = [body_of(store, id) for id in ids]
    embed(store, row, bodies)
    before = slots(store, row)
    (chunk,), _ = store.vectors.chunks(row.num, {})

    scribe.purge(ids[1])

    assert set(slots(store, row)) == {bodies[0], bodies[2]}
    (after,), _ = store.vectors.chunks(row.num, {chunk.num: chunk.version})
    assert before[bodies[1]][0].tobytes() not in after.codes
    assert store.vectors.exact(row.num, bodies[1:2]) == []
    assert store.maintenance.verify() == []
    new = body_of(store, scribe.remember("four"))
    embed(store, row, [new], seed=3)
    assert set(slots(store, row)) == {bodies[0], bodies[2], new}


def test_every_version_keeps_its_vector(store, scribe, row):
    id = scribe.remember("one")
    old = body_of(store, id)
    scribe.change("edited", id, "two")
    new = body_of(store, id)
    assert embed(store, row, [old, new]) == 2
    scribe.change("retracted", id, why="x")
    assert set(slots(store, row)) == {old, new}


def test_texts_are_read_by_body(store, scribe):
    bodies = [body_of(store, scribe.remember(text)) for text in ("one", "two")]
    assert {num: text for num, text, *_ in store.search.texts([*bodies, 999])} == dict(
        zip(bodies, ("one", "two"), strict=True)
    )
    assert store.search.texts([]) == []


def test_another_embedder_takes_the_place_of_the_first_and_makes_all_vectors_anew(store, scribe, row):
    body, waiting = (body_of(store, scribe.remember(text)) for text in ("one", "two"))
    embed(store, row, [body], done=[body])

    other = store.vectors.register("words:2", "words", DIMENSIONS + 1)

    assert store.vectors.embedder() == other
    assert (other.has_vectors, other.is_complete, other.num == row.num) == (False, False, False)
    assert store.vectors.chunks(row.num, {}) == ([], [])
    assert store.vectors.exact(row.num, [body]) == []
    assert store.maintenance.stats().vectors == 0 and store.maintenance.stats().waiting_jobs == 2
    assert [job.subject for job in store.jobs.lease(AGAIN, at=0, until=9)] == [body]
    assert [job.subject for job in store.jobs.lease("embed", at=0, until=9)] == [waiting]

    with pytest.raises(limpet.EmbedderUnavailable):  # a worker that began before
        embed(store, row, [waiting], done=[waiting])
    assert embed(store, other, [body], dimensions=DIMENSIONS + 1, done=[body], kind=AGAIN) == 1
    assert (store.vectors.embedder().is_complete, store.maintenance.stats().waiting_jobs) == (True, 1)
    assert store.maintenance.verify() == []


def test_a_purge_takes_the_vectors(store, scribe, row):
    id = scribe.remember("one")
    embed(store, row, [body_of(store, id)])
    scribe.purge(id)
    assert slots(store, row) == {}
    assert store.maintenance.verify() == []


def test_every_write_changes_the_data_version(store, scribe, row):
    """Whoever keeps a copy of the vectors asks for this number, and reads again when it differs."""
    id = scribe.remember("one")
    writes = (
        lambda: scribe.change("pinned", id),
        lambda: embed(store, row, [body_of(store, id)]),
        lambda: store.usage.record([id], 1),
        lambda: store.jobs.enqueue("other", [1], 0),
        lambda: scribe.purge(id),
    )
    store.listings.count(Filter(states=STATES))
    for write in writes:
        before = store.data_version()
        write()
        store.listings.count(Filter(states=STATES))
        assert store.data_version() != before
    still = store.data_version()
    store.listings.count(Filter())
    assert store.data_version() == still


@pytest.mark.parametrize("store", ["file"], indirect=True)
def test_a_write_changes_the_data_version_at_once(store, scribe):
    scribe.remember("one")
    before = store.data_version()
    scribe.remember("two")
    assert store.data_version() != before


def test_a_long_text_is_as_near_as_its_nearest_part(store, scribe):
    """Its beginning and its parts are one text to every search, and go together."""
    long, short = scribe.remember("long"), scribe.remember("short")
    bodies = [body_of(store, long), body_of(store, short)]
    row = store.vectors.register("words:64", "words", 64)
    embed(store, row, bodies, dimensions=64)
    parts = vectors(40, seed=7, dimensions=64)
    made = encode_for_store([bodies[0]] * 40, parts, range(1, 41))
    assert (store.vectors.add(row.num, made), store.vectors.add(row.num, made)) == (40, 0)
    assert store.maintenance.stats().vectors == 42 and store.maintenance.verify() == []
    assert [body for body, _ in store.vectors.exact(row.num, bodies)] == bodies

    index = VectorIndex(store, row.num, 64)
    index.refresh()
    scan = index.search(parts[17], scopes=None, chance=0.05)
    assert scan.take(9) == bodies
    assert (scan.part_of(bodies[0]), scan.part_of(bodies[1])) == (18, 0)
    assert scan.has_parts([*bodies, 999]).tolist() == [True, False, False]
    assert scan.score_of(bodies)[0] == pytest.approx(1 - 0.05 * np.log(40), abs=0.02)
    assert index.search(parts[17], scopes=None).score_of(bodies[:1])[0] < 0.7

    scribe.purge(long)
    index.refresh()
    assert index.search(parts[17], scopes=None, chance=0.05).take(9) == bodies[1:]
    assert store.maintenance.stats().vectors == 1 and store.maintenance.verify() == []
