"""Embedders of others that fail or answer with what is no vector: nothing of it is stored, and whoever asks is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import limpet
from tests.flows.test_work import WordEmbedder

SAID = [f"Note {n} speaks of the {word}" for n, word in enumerate(("harbour", "lantern", "bridge"))]


@pytest.fixture
def opened(path, clock):
    handles = []

    def one(embedder):
        handles.append(limpet.open(path, scope="global", clock=clock, embedder=embedder))
        return handles[-1]

    yield one
    for handle in handles:
        handle.close()


class Failing(WordEmbedder):
    def embed_passages(self, texts):
        raise RuntimeError("gpu on fire")

    embed_query = embed_passages


def check(memory, name):
    return next(one for one in memory.doctor() if one.name == name)


def test_why_an_embedder_fails_is_told_wherever_it_shows(opened):
    memory = opened(Failing())
    memory.remember_batch({"content": text} for text in SAID)

    first, second, third = memory.work(), memory.work(), memory.work(again=True)

    assert [first.failed, second.failed, third.failed] == [3, 0, 3], "to embed anew waits for no later attempt"
    for report in (first, second, third):
        assert (report.remaining, report.error) == (3, "RuntimeError: gpu on fire")
    assert "gpu on fire" in memory.recall("harbour").notes["vector"]
    assert "gpu on fire" in check(memory, "queue").message
    found = check(memory, "embedder")
    assert (found.status, "gpu on fire" in found.message) == ("warn", True)


def test_a_recall_tells_why_it_could_make_no_vectors(opened):
    memory = opened("nonsense")
    memory.remember(SAID[0])
    assert "no embedder is called 'nonsense'" in memory.recall("harbour").notes["vector"]


def test_doctor_asks_an_embedder_that_has_answered_before(opened):
    embedder = WordEmbedder()
    memory = opened(embedder)
    memory.remember(SAID[0])
    memory.work()
    assert check(memory, "embedder").status == "ok"
    embedder.embed_query = Failing().embed_query
    assert check(memory, "embedder").status == "warn"


class OneRow(WordEmbedder):
    def embed_passages(self, texts):
        return super().embed_passages(texts)[:1]


class Narrow(WordEmbedder):
    def embed_passages(self, texts):
        return super().embed_passages(texts)[:, :8]


@pytest.mark.parametrize("embedder", [OneRow, Narrow])
def test_vectors_of_another_shape_are_none_of_these_texts(opened, embedder):
    """Tried one by one, a single row for all would pass for the vector of each."""
    memory = opened(embedder())
    memory.remember_batch({"content": text} for text in SAID)
    report = memory.work()
    assert report.failed == 3 and "(3, 64) belongs" in report.error
    assert (memory.stats().vectors, memory.stats().waiting_jobs) == (0, 3)
    assert "(3, 64) belongs" in memory.recall("harbour").notes["vector"]


def test_a_vector_without_a_direction_is_refused(opened):
    class Empty(WordEmbedder):
        def _vector(self, text):
            return super()._vector(text) * np.float32("bridge" not in text)

    memory = opened(Empty())
    memory.remember_batch({"content": text} for text in SAID)
    report = memory.work()
    assert (report.done, report.failed, memory.stats().vectors) == (2, 1, 2)
    assert "no direction" in report.error
    assert "without a direction" in memory.recall("bridge").notes["vector"]


def test_vectors_of_any_length_are_brought_to_one(opened):
    class Long(WordEmbedder):
        def _vector(self, text):
            return super()._vector(text) * np.float32(400)

    memory = opened(Long())
    memory.remember_batch({"content": text} for text in SAID)
    memory.work()
    best = memory.recall(SAID[0], explain=True).items[0]
    assert best.content == SAID[0]
    assert best.why.signals["vector"].raw == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("error", ["ImportError", "ModuleNotFoundError"])
def test_without_a_numpy_that_loads_words_answer(tmp_path, error):
    """A package of another platform fails otherwise than one that is not there."""
    (tmp_path / "lib" / "numpy").mkdir(parents=True)
    (tmp_path / "lib" / "numpy" / "__init__.py").write_text(f"raise {error}('no such build')")
    folders = os.pathsep.join([str(tmp_path / "lib"), os.environ.get("PYTHONPATH", "")])

    def run(*argv):
        return subprocess.run(
            [sys.executable, "-m", "limpet", "--store", str(tmp_path / "m.db"), *argv],
            env={**os.environ, "PYTHONPATH": folders}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    id = json.loads(run("remember", "The logs are in Loki", "--json").stdout)["id"]
    found = run("recall", "where are the logs?")
    assert found.returncode == 0 and "Loki" in found.stdout and "Traceback" not in found.stderr
    for argv in (["work"], ["prepare", "the logs"], ["list", "--related", id]):
        done = run(*argv)
        assert "Traceback" not in done.stderr and "internal error" not in done.stderr
