"""A text has the same vector and the same log-odds on every processor, for any number of threads, alone or in a batch.

`python -m tests.unit.test_same_everywhere` records the file again, after another model.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from limpet.vectors import judge, own
from limpet.vectors.wordpiece import wordpiece

SET = Path(__file__).parents[1] / "quality" / "recall"
RECORD = Path(__file__).parents[1] / "data" / "models.npz"
TEXTS, PAIRS = 500, 500
READ_AND_END = """
import threading
from limpet.vectors import encoder, own

def read():
    model = own.OwnModel()
    for _ in range(encoder.READS_BEFORE_SESSION):
        model.embed_query("Which port?")

reading = threading.Thread(target=read, daemon=True)
reading.start()
reading.join()
"""


def rows(name, field):
    lines = (SET / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line).get(field) or "" for line in lines]


def texts():
    """Memories and questions of the project's own set, in several scripts, short and long."""
    both = list(chain(*zip(rows("memories.jsonl", "content"), rows("questions.jsonl", "question"), strict=False)))
    return [*both[: TEXTS - 3], "", "x" * 5_000, "漢字 " * 300]


def pairs():
    questions, memories = rows("questions.jsonl", "question"), rows("memories.jsonl", "content")
    return list(zip(questions, memories, strict=False))[:PAIRS]


@pytest.fixture(scope="module")
def recorded():
    with np.load(RECORD) as record:
        return dict(record)


def test_a_text_has_the_recorded_pieces(recorded):
    ids = [wordpiece().ids(text, own.TOKENS) for text in texts()]
    assert [len(row) for row in ids] == recorded["lengths"].tolist()
    assert list(chain(*ids)) == recorded["pieces"].tolist()


def test_a_text_has_the_recorded_vector(recorded):
    vectors = own.OwnModel().embed_passages(texts())
    assert np.abs((vectors * recorded["vectors"].astype(np.float32)).sum(axis=1) - 1).max() < 0.001


def test_a_pair_has_the_recorded_log_odds(recorded):
    questions, memories = zip(*pairs(), strict=True)
    scores = judge.Judge().scores(questions, memories)
    assert np.abs(np.array(scores) - recorded["log_odds"]).max() < 0.02


def test_company_and_threads_change_nothing(monkeypatch):
    some, asked = texts()[::25], pairs()[::25]
    model, reader = own.OwnModel(), judge.Judge()
    alone = np.stack([model.embed_query(text) for text in some])
    odds = [reader.scores(question, [memory])[0] for question, memory in asked]
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    model, reader = own.OwnModel(), judge.Judge()
    assert np.abs(alone - model.embed_passages(some)).max() < 0.0001
    assert reader.scores(*zip(*asked, strict=True)) == pytest.approx(odds, abs=0.001)


def test_numpy_and_the_runtime_agree():
    """The first texts of a process are read by one, all others by the other."""
    some, asked = texts()[::25], pairs()[::25]
    model, reader = own.OwnModel(), judge.Judge()
    by_numpy = np.stack([own.OwnModel().embed_query(text) for text in some])
    odds = [judge.Judge().scores(question, [memory])[0] for question, memory in asked]
    assert np.abs(by_numpy - model.embed_passages(some)).max() < 0.0001
    assert reader.scores(*zip(*asked, strict=True)) == pytest.approx(odds, abs=0.001)


def test_a_process_that_ends_while_a_session_is_opened_beside_it_ends_well():
    """Also where a thread that nobody waits for asked for it, as those of servers do."""
    done = subprocess.run(
        [sys.executable, "-c", READ_AND_END], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def record():
    ids = [wordpiece().ids(text, own.TOKENS) for text in texts()]
    questions, memories = zip(*pairs(), strict=True)
    np.savez_compressed(
        RECORD,
        lengths=np.array([len(row) for row in ids], dtype=np.uint16),
        pieces=np.array(list(chain(*ids)), dtype=np.uint16),
        vectors=own.OwnModel().embed_passages(texts()).astype(np.float16),
        log_odds=np.array(judge.Judge().scores(questions, memories), dtype=np.float32),
    )


if __name__ == "__main__":
    record()
