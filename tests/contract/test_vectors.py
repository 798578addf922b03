"""Vectors of texts: stored once, read by chunks, gone with their text, one embedder at a time."""

from __future__ import annotations

import numpy as np
import pytest

import limpet
from limpet.model.memory import STATES
from limpet.store.records import Filter
from limpet.vectors.codes import encode_for_store
from tests.contract.conftest import body_of

DIMENSIONS = 16


def vectors(n, seed=0):
    made = np.random.default_rng(seed).normal(size=(n, DIMENSIONS)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def embed(store, row, bodies, seed=0, **more):
    return store.vectors.add(row.num, encode_for_store(bodies, vectors(len(bodies), seed)), **more)


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
def row(full_store):
    return full_store.vectors.register("words:1", "words", DIMENSIONS)


def test_the_first_embedder_is_active_and_later_ones_are_built_up(full_store):
    assert full_store.vectors.embedders() == []
    first = full_store.vectors.register("words:1", "words", DIMENSIONS)
    second = full_store.vectors.register("words:2", "words", DIMENSIONS)

    assert (first.fingerprint, first.name, first.dimensions, first.state) == ("words:1", "words", DIMENSIONS, "active")
    assert second.state == "building"
    assert full_store.vectors.register("words:1", "words", DIMENSIONS) == first
    assert full_store.vectors.embedders() == [first, second]
    with pytest.raises(limpet.BadInput):
        full_store.vectors.register("words:1", "words", DIMENSIONS + 1)


def test_how_cosines_lie_is_kept_with_an_embedder(full_store, row):
    assert row.calibration is None
    other = full_store.vectors.register("words:2", "words", DIMENSIONS)

    gauged = full_store.vectors.calibrate(row.num, (0.7, 0.8, 0.75))

    assert gauged == row._replace(calibration=(0.7, 0.8, 0.75))
    assert full_store.vectors.embedders() == [gauged, other]
    assert full_store.vectors.register("words:1", "words", DIMENSIONS) == gauged


def test_a_vector_is_kept_exactly_and_as_a_code(full_store, full, row):
    bodies = [body_of(full_store, full.remember(text, scope=scope)) for text, scope in (("one", "a"), ("two", "b"))]
    assert embed(full_store, row, bodies) == 2

    wanted = vectors(2)
    exact = dict(full_store.vectors.exact(row.num, [*bodies, 999]))
    stored = slots(full_store, row)
    assert set(exact) == set(stored) == set(bodies)
    for body, vector in zip(bodies, wanted, strict=True):
        assert (np.frombuffer(exact[body], np.float16) == vector.astype(np.float16)).all()
        code, scale, _ = stored[body]
        assert np.allclose(code * scale, vector, atol=0.02)
    assert [stored[body][2] for body in bodies] == full_store.search.scope_numbers(
        ["a"]
    ) + full_store.search.scope_numbers(["b"])
    assert full_store.search.scope_numbers(["nowhere"]) == full_store.search.scope_numbers([]) == []
    assert full_store.vectors.exact(row.num, []) == []
    assert full_store.maintenance.verify() == []


def test_a_text_has_one_vector_of_an_embedder(full_store, full, row):
    body = body_of(full_store, full.remember("one"))
    assert embed(full_store, row, [body]) == 1
    first = full_store.vectors.exact(row.num, [body])
    assert embed(full_store, row, [body], seed=1) == 0
    assert full_store.vectors.exact(row.num, [body]) == first
    assert len(slots(full_store, row)) == 1


def test_vectors_of_texts_and_embedders_that_are_gone_are_not_stored(full_store, full, row):
    """Both may go while a worker embeds."""
    id = full.remember("one")
    body = body_of(full_store, id)
    full.purge(id)
    assert embed(full_store, row, [body]) == 0
    kept = body_of(full_store, full.remember("two"))
    assert full_store.vectors.add(999, encode_for_store([kept], vectors(1))) == 0
    assert embed(full_store, row, []) == 0
    assert slots(full_store, row) == {}


def test_adding_vectors_finishes_their_jobs_in_one_go(full_store, full, row):
    full.remember("one")
    now = full.clock.now()
    (job,) = full_store.jobs.lease("embed", limit=9, at=now, until=now + 9, worker="w")
    embed(full_store, row, [job.subject], done=[job.subject])
    assert full_store.maintenance.stats().waiting_jobs == 0
    assert full_store.maintenance.stats().vectors == 1


def test_only_chunks_that_changed_are_read_again(full_store, full, row):
    bodies = [body_of(full_store, full.remember(f"text {i}")) for i in range(4)]
    embed(full_store, row, bodies[:2])
    (chunk,), present = full_store.vectors.chunks(row.num, {})
    known = {chunk.num: chunk.version}
    assert present == [chunk.num]
    assert full_store.vectors.chunks(row.num, known) == ([], present)
    full.remember("text without a vector")
    assert full_store.vectors.chunks(row.num, known) == ([], present)

    embed(full_store, row, bodies[2:])

    (changed,), _ = full_store.vectors.chunks(row.num, known)
    assert changed.version != chunk.version
    assert changed.used == 4
    assert full_store.vectors.chunks(999, {}) == ([], [])


def test_many_vectors_fill_chunk_after_chunk(full_store, full, row):
    full.write(*(full.event("remembered", None, f"text {i}") for i in range(2_100)))
    bodies = full_store.search.allowed(Filter())
    assert embed(full_store, row, bodies[:1_000]) == 1_000
    first, _ = full_store.vectors.chunks(row.num, {})
    assert embed(full_store, row, bodies[900:]) == 1_100

    chunks, present = full_store.vectors.chunks(row.num, {})

    assert [chunk.num for chunk in chunks] == present[::-1] == sorted(present, reverse=True)
    assert full_store.vectors.chunks(row.num, {}, most=1) == (chunks[:1], present)
    assert sum(chunk.used for chunk in chunks) == 2_100
    assert all(chunk.used <= 1_024 for chunk in chunks)
    assert set(slots(full_store, row)) == set(bodies)
    assert chunks[-1].codes[: first[0].used * DIMENSIONS] == first[0].codes
    assert full_store.maintenance.verify() == []


def test_a_purged_text_leaves_no_vector_behind(full_store, full, row):
    ids = [full.remember(text) for text in ("one", "two", "three")]
    bodies = [body_of(full_store, id) for id in ids]
    embed(full_store, row, bodies)
    before = slots(full_store, row)
    (chunk,), _ = full_store.vectors.chunks(row.num, {})

    full.purge(ids[1])

    assert set(slots(full_store, row)) == {bodies[0], bodies[2]}
    (after,), _ = full_store.vectors.chunks(row.num, {chunk.num: chunk.version})
    assert before[bodies[1]][0].tobytes() not in after.codes
    assert full_store.vectors.exact(row.num, bodies[1:2]) == []
    assert full_store.maintenance.verify() == []
    new = body_of(full_store, full.remember("four"))
    embed(full_store, row, [new], seed=3)
    assert set(slots(full_store, row)) == {bodies[0], bodies[2], new}


def test_every_version_keeps_its_vector(full_store, full, row):
    id = full.remember("one")
    old = body_of(full_store, id)
    full.change("edited", id, "two")
    new = body_of(full_store, id)
    assert embed(full_store, row, [old, new]) == 2
    full.change("retracted", id, why="x")
    assert set(slots(full_store, row)) == {old, new}


def test_texts_without_a_vector_are_named_in_order_and_in_portions(full_store, full, row):
    bodies = [body_of(full_store, full.remember(f"text {i}")) for i in range(6)]
    assert full_store.vectors.missing(row.num, limit=99) == bodies
    embed(full_store, row, [bodies[1], bodies[4]])
    left = [bodies[i] for i in (0, 2, 3, 5)]
    assert full_store.vectors.missing(row.num, limit=99) == left
    assert full_store.vectors.missing(row.num, limit=3) == left[:3]
    assert full_store.vectors.missing(row.num, limit=99, after=left[2]) == left[3:]
    assert full_store.vectors.missing(row.num, limit=99, after=left[3]) == []
    other = full_store.vectors.register("other", "other", 8)
    assert full_store.vectors.missing(other.num, limit=99) == bodies


def test_texts_are_read_by_body(full_store, full):
    bodies = [body_of(full_store, full.remember(text)) for text in ("one", "two")]
    assert {num: text for num, text, _ in full_store.search.texts([*bodies, 999])} == dict(
        zip(bodies, ("one", "two"), strict=True)
    )
    assert full_store.search.texts([]) == []


def test_old_vectors_answer_until_a_new_embedder_takes_over(full_store, full, row):
    body = body_of(full_store, full.remember("one"))
    embed(full_store, row, [body])
    other = full_store.vectors.register("words:2", "words", DIMENSIONS)
    embed(full_store, other, [body], seed=1)
    assert set(slots(full_store, row)) == set(slots(full_store, other)) == {body}
    assert full_store.maintenance.stats().vectors == 2

    full_store.vectors.activate(other.num)

    assert [(one.fingerprint, one.state) for one in full_store.vectors.embedders()] == [("words:2", "active")]
    assert set(slots(full_store, other)) == {body}
    assert full_store.vectors.chunks(row.num, {}) == ([], [])
    assert full_store.vectors.exact(row.num, [body]) == []
    assert full_store.maintenance.stats().vectors == 1
    assert full_store.maintenance.verify() == []


def test_a_purge_takes_the_vectors_of_every_embedder(full_store, full, row):
    id = full.remember("one")
    body = body_of(full_store, id)
    other = full_store.vectors.register("other", "other", DIMENSIONS)
    embed(full_store, row, [body])
    embed(full_store, other, [body], seed=1)
    full.purge(id)
    assert slots(full_store, row) == slots(full_store, other) == {}
    assert full_store.maintenance.verify() == []


def test_every_write_changes_the_data_version(full_store, full, row):
    """Whoever keeps a copy of the vectors asks for this number, and reads again when it differs."""
    id = full.remember("one")
    writes = (
        lambda: full.change("pinned", id),
        lambda: embed(full_store, row, [body_of(full_store, id)]),
        lambda: full_store.usage.record([id], 1),
        lambda: full_store.jobs.enqueue("other", [1], 0),
        lambda: full.purge(id),
    )
    full_store.listings.count(Filter(states=STATES))
    for write in writes:
        before = full_store.data_version()
        write()
        full_store.listings.count(Filter(states=STATES))
        assert full_store.data_version() != before
    still = full_store.data_version()
    full_store.listings.count(Filter())
    assert full_store.data_version() == still


@pytest.mark.parametrize("full_store", ["file"], indirect=True)
def test_a_write_changes_the_data_version_at_once(full_store, full):
    full.remember("one")
    before = full_store.data_version()
    full.remember("two")
    assert full_store.data_version() != before
