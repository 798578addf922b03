"""docs/reference/json.md names every field that commands print with `--json`, where it tells of that command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import limpet
from limpet.cli.main import main

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
# Objects whose names are data: what a person gave, signals, reasons and rules with their counts.
OPEN = {"metadata", "signals", "adjustments", "counts", "notes", "rules"}


def row(command):
    """The line of a command in the table of those that have no section."""
    (line,) = re.findall(rf"^\| [^|]*`{command}`[^|]*\| .*$", SECTIONS["Other commands"], re.MULTILINE)
    return line


def fields(value):
    """The names of all fields in an answer."""
    if isinstance(value, list):
        return {name for one in value for name in fields(one)}
    if not isinstance(value, dict):
        return set()
    inner = (list(one.values()) if key in OPEN and isinstance(one, dict) else one for key, one in value.items())
    return set(value) | {name for one in inner for name in fields(one)}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a command with --json; returns the names of the fields that it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)

    def call(*words):
        assert main(["--store", str(tmp_path / "memory.db"), "--scope", "project:a", "--json", *words]) in (0, 2)
        return fields([json.loads(line) for line in capsys.readouterr().out.splitlines()])

    return call


@pytest.fixture
def filled(run, tmp_path):
    """A store with two values of a key, a session, and something that waits for review."""
    run("remember", "The deploy runs on Tuesday at nine", "--origin", "user", "--topic", "ops", "--meta", "line=7")
    for port in ("80", "81"):
        run("fact", "srv.port", port, "--origin", "user")
    with limpet.open(tmp_path / "memory.db", scope="project:a") as memory:
        memory.remember("The build takes 14 minutes", session="s1", speaker="Ben", id=STORED)
    run("fact", "srv.port", "82", "--origin", "web")
    run("undo")
    run("undo", "--redo")
    return run


STORED = "01890000-0000-7000-8000-0000000000ab"
ITEMS = SECTIONS["Recall"]
MEMORIES = SECTIONS["Recall"] + SECTIONS["Memories"]


@pytest.mark.parametrize(
    ("words", "told", "some"),
    [
        (["remember", "The deploy runs on Tuesday at nine", "--topic", "release"], SECTIONS["Receipts"], "added"),
        (["remember", "He said that his password is hunter2hunter2X9"], SECTIONS["Receipts"], "redacted"),
        (["recall", "when does the deploy run", "--explain"], ITEMS, "contribution"),
        (["recall", "deploy", "--deadline-ms", "0.001", "--lexical"], ITEMS, "notes"),
        (["recall", "how long does the build take", "--sessions", "--explain"], ITEMS, "without_session"),
        (["list", "--all"], MEMORIES, "stated_confidence"),
        (["show", STORED, "--history"], MEMORIES, "history"),
        (["review"], row("review"), "question"),
        (["log"], SECTIONS["Receipts"], "of"),
        (["fact", "srv.port", "--history"], row("fact KEY"), "value"),
        (["session", "show", "s1"], row("session start") + MEMORIES, "started_at"),
        (["install", "claude", "--dry-run"], row("install"), "action"),
        (["organize", "chat.jsonl"], row("organize"), "more_rejected"),
        (["import", "transcripts", "chat.jsonl"], row("organize"), "more_rejected"),
        (["import", "jsonl", "lines.jsonl"], row("import"), "place"),
        (["import", "markdown", "notes.md"], row("import"), "quarantined"),
        (["import", "segments", "segments"], row("import segments"), "device"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_every_field_that_a_command_prints_is_in_the_page(filled, tmp_path, words, told, some):
    chat = [{"role": "user", "content": "Please remember that we deploy on Fridays only."}]
    (tmp_path / "chat.jsonl").write_text("".join(json.dumps(one) + "\n" for one in chat))
    (tmp_path / "lines.jsonl").write_text('{"content": "The cellar is dry"}\n{"content": ""}\n')
    (tmp_path / "notes.md").write_text("# Cellar\n\nIt is dry.\n")
    if "segments" in words:
        filled("export", "segments", "segments")
    printed = filled(*words)
    assert some in printed
    assert printed - set(re.findall(r"\w+", told)) == set()
