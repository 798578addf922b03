"""Codes, the scan over them, and the default embedder."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from limpet.settings import DEFAULT_EMBEDDER
from limpet.store.records import VectorChunk
from limpet.vectors.embedder import load_embedder
from limpet.vectors.index import VectorIndex, dot, encode_for_store, quantise

DIMENSIONS = 384


def unit(n, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(n, DIMENSIONS)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class OneChunk:
    """The part of a store that an index reads, over vectors in memory."""

    def __init__(self, vectors, bodies, scopes):
        self.version = 1
        self.vectors = self  # the repository of vectors
        self.rows, self.bodies, self.scopes = vectors, bodies, scopes

    def snapshot(self):
        return nullcontext()

    def data_version(self):
        return self.version

    def chunks(self, _, known, most=None):
        codes, scales = quantise(self.rows)
        chunk = VectorChunk(
            num=1, version=self.version, used=len(self.bodies), codes=codes.tobytes(), scales=scales.tobytes(),
            text_ids=np.asarray(self.bodies, "<i8").tobytes(), scopes=np.asarray(self.scopes, "<i4").tobytes(),
        )  # fmt: skip
        return ([] if known.get(1) == self.version else [chunk]), [1]

    def exact(self, _, bodies):
        place = {body: i for i, body in enumerate(self.bodies)}
        return [(body, self.rows[place[body]].astype(np.float16).tobytes()) for body in bodies if body in place]


def index_of(vectors, bodies, scopes=None):
    store = OneChunk(vectors, bodies, scopes or [1] * len(bodies))
    index = VectorIndex(store, 1, DIMENSIONS)
    index.refresh()
    return index, store


def test_a_code_is_within_half_a_step_of_its_vector():
    vectors = unit(20)
    codes, scales = quantise(vectors)

    assert (codes.dtype, scales.dtype) == (np.int8, np.float32)
    assert np.abs(codes).max() == 127
    assert (np.abs(codes * scales[:, None] - vectors) <= scales[:, None] * 0.501).all()


def test_a_vector_of_zeros_stays_one():
    codes, scales = quantise(np.zeros((1, 4), dtype=np.float32))
    assert not codes.any()
    assert np.isfinite(scales).all()


def test_what_is_no_number_is_not_stored():
    with pytest.raises(ValueError, match="no number"):
        encode_for_store([1], np.full((1, 4), np.nan, dtype=np.float32))


def test_stored_vectors_keep_code_scale_and_float16():
    vectors = unit(2)
    one, two = encode_for_store([7, 9], vectors)
    assert (one.text_id, two.text_id) == (7, 9)
    assert np.allclose(np.frombuffer(one.exact, np.float16), vectors[0], atol=1e-3)
    assert np.allclose(np.frombuffer(two.code, np.int8) * two.scale, vectors[1], atol=1e-2)


@pytest.mark.parametrize("n", [0, 1, 7, 4_096, 5_000])
def test_a_dot_product_of_codes_is_exact(n):
    codes = quantise(unit(n))[0] if n else np.zeros((0, 384), np.int8)
    query = quantise(unit(1, seed=1))[0][0]

    assert (dot(query, codes) == codes.astype(np.int64) @ query.astype(np.int64)).all()


def test_a_scan_gives_bodies_best_first_in_portions():
    vectors, query = unit(300), unit(1, seed=1)[0]
    index, _ = index_of(vectors, list(range(1, 301)))

    scan = index.search(query, scopes=None)
    portions = [scan.take(7), scan.take(50), scan.take(1_000), scan.take(5)]

    assert [len(part) for part in portions] == [7, 50, 243, 0]
    found = [body for part in portions for body in part]
    assert sorted(found) == list(range(1, 301))
    scores = scan.score_of(found).tolist()
    assert scores == sorted(scores, reverse=True)
    assert np.allclose(scores, vectors[np.array(found) - 1] @ query, atol=5e-3)


def test_a_deadline_leaves_out_what_was_not_scanned(monkeypatch):
    """The newest are scanned first, and the scan says that it is not complete."""
    monkeypatch.setattr("limpet.vectors.index.SCANNED_AT_ONCE", 100)
    moments = iter([0.0, 1.0, 2.0])
    monkeypatch.setattr("limpet.vectors.index.time", SimpleNamespace(monotonic=lambda: next(moments)))
    index, _ = index_of(unit(300), list(range(1, 301)))

    scan = index.search(unit(1, seed=1)[0], scopes=None, deadline=1.5)

    assert not scan.complete
    assert sorted(scan.take(999)) == list(range(101, 301))
    assert np.isnan(scan.score_of([1])).all()


def test_a_scan_of_a_scope_does_not_depend_on_others():
    own, others, query = unit(400), unit(900, seed=5), unit(1, seed=7)[0]
    alone, _ = index_of(own, range(1, 401), [1] * 400)
    mixed = np.concatenate([others[:300], own[:200], others[300:], own[200:]])[:1_024]
    bodies = [*range(501, 801), *range(1, 201), *range(801, 1_401), *range(201, 401)][:1_024]
    count = sum(body <= 400 for body in bodies)
    alone, _ = index_of(own[:count], range(1, count + 1), [1] * count)
    beside, _ = index_of(mixed, bodies, [1 if body <= 400 else 2 for body in bodies])
    scans = [index.search(query, scopes=[1]) for index in (alone, beside)]
    assert scans[0].take(999) == scans[1].take(999)
    for scan in scans:
        scan.restrict(range(50, 150))
    assert scans[0].take(999) == scans[1].take(999)


def test_equal_scores_are_taken_by_body():
    vectors = np.repeat(unit(1), 9, axis=0)
    index, _ = index_of(vectors, [9, 2, 7, 4, 5, 6, 3, 8, 1])
    scan = index.search(vectors[0], scopes=None)
    assert scan.take(4) + scan.take(9) == list(range(1, 10))


def test_empty_slots_other_scopes_and_forbidden_bodies_are_hidden():
    vectors = unit(6)
    index, _ = index_of(vectors, [1, 2, 0, 4, 5, 6], [1, 1, 1, 2, 2, 3])

    def seen(scopes=None, allowed=None):
        scan = index.search(vectors[2], scopes=scopes)
        if allowed is not None:
            scan.take(1)  # what was taken before a restriction may come again
            scan.restrict(allowed)
        return sorted(scan.take(99))

    assert seen() == [1, 2, 4, 5, 6]
    assert seen(scopes=[1]) == [1, 2]
    assert seen(scopes=[1, 3]) == [1, 2, 6]
    assert seen(scopes=[]) == []
    assert seen(scopes=[9]) == []
    assert seen(allowed=[2, 4, 77]) == [2, 4]
    assert seen(scopes=[2], allowed=[2, 4]) == [4]
    assert seen(allowed=[]) == []


def test_a_body_without_a_vector_has_no_score():
    index, _ = index_of(unit(3), [1, 2, 3])
    scan = index.search(unit(1)[0], scopes=None)
    assert np.isnan(scan.score_of([3, 99, 1])).tolist() == [False, True, False]


def test_an_empty_index_finds_nothing():
    index, _ = index_of(np.zeros((0, DIMENSIONS), np.float32), [])
    scan = index.search(unit(1)[0], scopes=None)
    assert scan.take(5) == []
    assert np.isnan(scan.score_of([1, 2])).all()


def test_an_index_follows_its_store_and_a_running_scan_keeps_its_state_less_what_is_purged():
    vectors = unit(3)
    index, store = index_of(vectors, [1, 2, 3])
    running = index.search(vectors[0], scopes=None)
    store.rows, store.bodies, store.scopes, store.version = unit(4), [1, 0, 3, 4], [1] * 4, 2

    index.refresh()

    assert sorted(running.take(9)) == [1, 3]
    assert sorted(index.search(vectors[0], scopes=None).take(9)) == [1, 3, 4]


class Chunks:
    """A store of several chunks, of which one can be unreadable."""

    def __init__(self, *parts):
        self.version = 1
        self.vectors = self  # the repository of vectors
        self.damaged = None
        self.parts = parts

    def snapshot(self):
        return nullcontext()

    def data_version(self):
        return self.version

    def chunks(self, _, known, most=None):
        changed = []
        for num, (vectors, bodies) in enumerate(self.parts, 1):
            codes, scales = quantise(vectors)
            if known.get(num) == self.version:
                continue
            changed.append(VectorChunk(
                num=num, version=self.version, used=len(bodies),
                codes=codes.tobytes()[:100] if num == self.damaged else codes.tobytes(), scales=scales.tobytes(),
                text_ids=np.asarray(bodies, "<i8").tobytes(), scopes=np.ones(len(bodies), "<i4").tobytes(),
            ))  # fmt: skip
        return changed, list(range(1, len(self.parts) + 1))


@pytest.mark.parametrize("damaged", [1, 2, 3])
def test_an_unreadable_chunk_is_read_again_with_all_the_others(damaged):
    """Nothing that was read beside it counts as read: the next refresh finds everything."""
    parts = [(unit(3, seed), [seed * 10 + i for i in range(1, 4)]) for seed in range(3)]
    store = Chunks(*parts)
    store.damaged = damaged
    index = VectorIndex(store, 1, DIMENSIONS)
    for _ in range(2):
        with pytest.raises(ValueError, match="reshape"):
            index.refresh()
    store.damaged = None

    index.refresh()

    for vectors, bodies in parts:
        for vector, body in zip(vectors, bodies, strict=True):
            assert index.search(vector, scopes=None).take(1) == [body]
    assert len(index.search(parts[0][0][0], scopes=None).take(99)) == 9


def test_an_index_that_could_not_be_refreshed_answers_as_before():
    parts = [(unit(3, seed), [seed * 10 + i for i in range(1, 4)]) for seed in range(2)]
    store = Chunks(*parts)
    index = VectorIndex(store, 1, DIMENSIONS)
    index.refresh()
    store.version, store.damaged = 2, 2
    with pytest.raises(ValueError, match="reshape"):
        index.refresh()
    assert sorted(index.search(parts[0][0][0], scopes=None).take(99)) == [1, 2, 3, 11, 12, 13]


def test_the_cosines_of_the_best_are_those_of_float16():
    vectors = unit(5)
    index, _ = index_of(vectors, [1, 2, 3, 4, 5])
    scan = index.search(vectors[0], scopes=None)
    exact = scan.cosines([2, 1, 99], exact=3)
    assert exact[:2] == pytest.approx([float(vectors[1] @ vectors[0]), 1.0], abs=1e-3) and np.isnan(exact[2])
    assert scan.cosines([], exact=3) == []


def test_one_question_reads_only_the_exact_vectors_it_needs():
    vectors = unit(50)
    index, store = index_of(vectors, range(1, 51))
    read = []

    def exact(num, bodies):
        read.extend(bodies)
        return OneChunk.exact(store, num, bodies)

    store.exact = exact
    scan = index.search(vectors[0], scopes=None)
    scan.exact([1, 2, 3])
    scan.exact([2, 4])
    assert read == [1, 2, 3, 4], "however often it looks"


def test_the_default_embedder_puts_meaning_near_meaning():
    embedder = load_embedder(DEFAULT_EMBEDDER)
    texts = [
        "The cat sleeps on the radiator",
        "A kitten naps somewhere warm",
        "The database uses write-ahead logging",
        "",
        "x" * 50_000,
        "東京",
    ]

    found = embedder.embed_passages(texts)

    assert (found.shape, found.dtype) == ((6, embedder.dimensions), np.float32)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    assert found[0] @ found[1] > found[0] @ found[2] + 0.2
    assert embedder.embed_passages([]).shape == (0, embedder.dimensions)


def test_a_text_has_the_same_vector_alone_and_in_company():
    embedder = load_embedder(DEFAULT_EMBEDDER)
    texts = ["The cat sleeps", "A much longer text about something else entirely, padded " * 5]
    together = embedder.embed_passages(texts)
    assert together[0] @ embedder.embed_query(texts[0]) > 0.98


def test_an_embedder_is_loaded_once_in_a_process():
    assert load_embedder(DEFAULT_EMBEDDER) is load_embedder(DEFAULT_EMBEDDER)


def test_of_many_that_are_equally_near_those_of_the_lowest_texts_are_taken_first():
    texts = list(range(1, 1_001))
    index, _ = index_of(unit(90)[np.random.default_rng(5).integers(0, 90, size=1_000)], texts)
    for count in (1, 10, 50, 999, 9_999):
        scan = index.search(unit(1, seed=1)[0], scopes=None)
        near = dict(zip(texts, scan.score_of(texts).tolist(), strict=True))
        assert scan.take(count) == sorted(texts, key=lambda text: (-near[text], text))[:count]


def test_texts_and_questions_that_are_embedded_at_once_get_the_vectors_they_get_alone():
    """Questions go first, and texts two at a time beside them; they come to an end all the same."""
    embedder = load_embedder(DEFAULT_EMBEDDER)
    texts = [f"the deploy of service {n} waits for the database" for n in range(24)]
    alone, question = embedder.embed_passages(texts), embedder.embed_query("what waits?")
    done, answers = threading.Event(), []

    def ask():
        while not done.is_set():
            answers.append(embedder.embed_query("what waits?"))

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        beside = embedder.embed_passages(texts)
    finally:
        done.set()
        asking.join()
    assert (beside * alone).sum(axis=1).min() > 0.99
    assert answers and max(np.abs(answer - question).max() for answer in answers) < 1e-5  # NumPy, then a session


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_what_long_texts_took_is_handed_back():
    """Sixteen long texts take some 170 MB while they are embedded; held for good, they would be most of a server."""
    program = """
from limpet.vectors.embedder import load_embedder
def held():
    return int(next(one for one in open("/proc/self/status") if one.startswith("VmRSS")).split()[1]) // 1024
embedder = load_embedder("limpet")
embedder.embed_query("warm")
before = held()
embedder.embed_passages(["a long text of many words " * 100] * 16)
print(held() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100
