"""What comes in great number is found by meaning at once: commands end with the vectors made, a recall makes what it can."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

import limpet
from limpet.cli.main import main
from tests.flows.test_work import WordEmbedder

MANY = 60
CAT = "My cat Whiskers sleeps on the warm radiator"
LINES = "".join(
    json.dumps({"content": text}) + "\n" for text in [CAT, *(f"Ledger entry number {i}" for i in range(MANY))]
)


@pytest.fixture
def run(path, capsys, monkeypatch):
    """Run the command line; returns (exit code, stdout, stderr)."""
    monkeypatch.setenv("LIMPET_STORE", str(path))
    monkeypatch.setenv("LIMPET_SCOPE", "global")

    def one(*argv):
        code = main([str(word) for word in argv])
        said = capsys.readouterr()
        return code, said.out, said.err

    return one


@pytest.fixture
def notes(tmp_path):
    file = tmp_path / "notes.jsonl"
    file.write_text(LINES)
    return file


def batch(path):
    argv = [sys.executable, "-m", "limpet", "--store", str(path), "--scope", "global", "remember", "--batch"]
    return subprocess.run(argv, input=LINES, capture_output=True, text=True, timeout=120, check=False)


def vectors(path):
    with limpet.open(path, scope="global") as memory:
        stats = memory.stats()
        return stats.vectors, stats.waiting_jobs


def test_an_import_ends_with_its_vectors_made(run, notes, path):
    code, out, err = run("import", "jsonl", notes, "--json")

    assert (code, err) == (0, "")
    assert json.loads(out) | {"rejected": []} == {
        "new": MANY + 1, "changed": 0, "known": 0, "links": 0, "quarantined": 0, "redacted": 0, "rejected": [],
        "more_rejected": 0, "notes": {}, "embedded": MANY + 1, "waiting": 0
    }  # fmt: skip
    assert vectors(path) == (MANY + 1, 0)


def test_a_batch_ends_with_its_vectors_made(path):
    done = batch(path)
    assert done.returncode == 0 and done.stdout.count("created") == MANY + 1
    assert vectors(path) == (MANY + 1, 0)


def test_other_formats_folders_and_devices_too(run, tmp_path, path):
    folder, shared, far = tmp_path / "notes", tmp_path / "shared", tmp_path / "far.db"
    folder.mkdir()
    (folder / "pets.md").write_text("# Pets\n\nWe decided to feed the cat at six because the vet said so.\n")
    assert run("import", "markdown", folder)[0] == 0
    assert run("import", "docs", folder)[0] == 0
    assert run("organize", folder)[0] == 0
    stored, waiting = vectors(path)
    assert stored > 0 and waiting == 0

    assert run("export", "segments", shared)[0] == 0
    assert run("--store", far, "import", "segments", shared)[0] == 2
    assert run("--store", far, "serve", "device", "trust", "all")[0] == 0
    assert run("--store", far, "import", "segments", shared)[0] == 0
    assert vectors(far)[1] == 0


def test_without_an_embedder_the_import_stands_and_says_what_waits(run, notes, path, monkeypatch):
    monkeypatch.setenv("LIMPET_EMBEDDER", "openai:x,url=http://127.0.0.1:9/nonesuch")
    code, out, err = run("import", "jsonl", notes)
    assert code == 0 and f"new {MANY + 1}" in out
    assert f"{MANY + 1} texts wait for their vectors" in err and "nonesuch" in err and "limpet work" in err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX signals")
def test_an_interrupted_command_keeps_what_was_stored_and_its_exit_code(tmp_path):
    """Ctrl-C while vectors are made: here the first batch of the model brings it."""
    path, notes = tmp_path / "memory.db", tmp_path / "notes.jsonl"
    notes.write_text("".join(json.dumps({"content": f"Ledger entry number {i}"}) + "\n" for i in range(MANY)))
    code = (
        "import os, signal, sys, time\n"
        "from limpet.vectors import own\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background job has it ignored
        "own.OwnModel.embed_passages = lambda self, texts: (os.kill(os.getpid(), signal.SIGINT), time.sleep(30))\n"
        "from limpet.cli.main import main\n"
        f"sys.exit(main(['--store', {str(path)!r}, '--scope', 'global', 'import', 'jsonl', {str(notes)!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and f"new {MANY}" in done.stdout, done.stderr
    assert f"{MANY} texts wait for their vectors (interrupted)" in done.stderr
    assert vectors(path) == (0, MANY)


class Timed(WordEmbedder):
    """Takes a known time for each text, and remembers the sizes of its batches."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds, self.sizes = seconds, []

    def embed_passages(self, texts):
        self.sizes.append(len(texts))
        time.sleep(self.seconds * len(texts))
        return super().embed_passages(texts)


def filled(path, clock, embedder, count=200):
    memory = limpet.open(path, scope="global", clock=clock, embedder=embedder)
    memory.remember("The oldest note speaks of a quartz lamp")
    memory.remember_batch({"content": f"Ledger entry number {i} of the year"} for i in range(count))
    return memory


def test_a_recall_embeds_as_many_waiting_texts_as_its_deadline_allows_and_says_how_many_wait(path, clock):
    embedder = Timed(0.01)
    with filled(path, clock, embedder) as memory:
        found = memory.recall("quartz lamp", deadline_ms=1_000)

        made = len(embedder.texts)
        assert 8 <= made <= 100, "more would have taken longer than the deadline"
        assert found.missing == ["vector"]
        assert found.notes["vector"] == f"{201 - made} texts wait for their vectors: `limpet work` makes them"
        assert memory.stats().vectors == made

        for _ in range(40):
            found = memory.recall("quartz lamp", deadline_ms=1_000)
            if not found.missing:
                break
        assert found.missing == [] and memory.stats().waiting_jobs == 0


def test_the_best_by_words_come_first_and_then_the_newest(path, clock):
    embedder = Timed(0.02)
    with filled(path, clock, embedder) as memory:
        memory.recall("quartz lamp", deadline_ms=700)

    assert "quartz lamp" in embedder.texts[0]
    rest = [int(text.split()[3]) for text in embedder.texts[1:]]
    newest_first = sorted(rest, reverse=True)
    assert newest_first == list(range(199, 199 - len(rest), -1))


def test_a_recall_with_no_deadline_gives_the_waiting_a_moment_and_no_more(path, clock):
    embedder = Timed(0.02)
    with filled(path, clock, embedder) as memory:
        found = memory.recall("quartz lamp")
    assert 8 <= len(embedder.texts) <= 75, "1.5 seconds at 0.02 each"
    assert found.missing == ["vector"]


def test_a_recall_leaves_to_another_process_what_that_works_on(path, clock):
    embedder = WordEmbedder()
    with filled(path, clock, embedder, count=20) as memory:
        taken = memory._context.store.jobs.lease("embed", limit=15, at=clock.now(), until=clock.now() + 60_000_000)
        assert len(taken) == 15
        memory.recall("quartz lamp")
        assert embedder.texts == []  # what its words ask for is among those, and the rest is left to who works


def test_a_store_that_is_open_read_only_stays_as_it_is(path, clock):
    filled(path, clock, WordEmbedder()).close()
    with limpet.open(path, scope="global", read_only=True, clock=clock, embedder=WordEmbedder()) as memory:
        found = memory.recall("quartz lamp")
        assert found.items and found.missing == ["vector"]
    assert vectors(path) == (0, 201)


def test_a_library_call_returns_before_slow_work(memory):
    memory.remember_batch({"content": f"Ledger entry number {i}"} for i in range(MANY))
    assert memory.stats().vectors == 0
    memory.remember(CAT)
    assert [one.content for one in memory.recall("where does the pet rest?", k=1, without=["lexical"]).items] == [CAT]
