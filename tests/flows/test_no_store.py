"""Reading where no store is: a mistyped path is said, and nothing appears there."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import limpet
from limpet.agents.hooks.entry import handle
from limpet.cli.main import main
from tests.flows import hook_inputs as inputs

ID = "019e3f2a0000"
READS = [
    ("recall", "anything"), ("recall", "anything", "--lexical"), ("recall", "anything", "--sessions"), ("prepare", "hi"),
    ("show", ID), ("list",), ("list", "--related", ID), ("list", "--count",), ("stats",), ("stats", "--usefulness"),
    ("fact", "user.city"), ("fact", "user.city", "--history"), ("audit", "x"), ("review",), ("session", "list"),
    ("session", "show", "s1"), ("why", ID), ("impact", ID), ("graph", "path", ID, ID), ("graph", "timeline",), ("graph", "contradictions",), ("graph", "gaps",),
    ("graph", "diff", "3 days ago"), ("verify",), ("journal", "--shown",), ("mirror", "status"),
    ("mirror", "init", "."), ("ui", "--no-browser"), ("export", "jsonl", "-"), ("review", "sweep"), ("work",), ("tag", ID, "+x"), ("undo",),
]  # fmt: skip


@pytest.mark.parametrize("argv", READS, ids=" ".join)
def test_a_reading_command_says_that_there_is_no_store_and_makes_none(tmp_path, capsys, monkeypatch, argv):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mistyped" / "memory.db"

    code = main(["--store", str(path), "--scope", "global", *argv])

    said = capsys.readouterr()
    assert code == 1
    assert f"no store at {path}" in said.err + said.out
    assert not path.parent.exists()


def test_doctor_warns_that_there_is_no_store_and_makes_none(tmp_path, capsys):
    path = tmp_path / "mistyped" / "memory.db"
    assert main(["--store", str(path), "--scope", "global", "doctor", "--json"]) == 0
    (store, *_) = json.loads(capsys.readouterr().out)["checks"]
    assert (store["name"], store["status"], store["message"]) == ("store", "warn", f"no store at {path}")
    assert not path.parent.exists()


def test_the_installed_models_are_listed_without_a_store(tmp_path, capsys):
    assert main(["--store", str(tmp_path / "new" / "memory.db"), "doctor", "--models"]) == 0
    assert "limpet" in capsys.readouterr().out and not (tmp_path / "new").exists()


def test_programs_are_told_by_the_name_of_the_error(tmp_path, capsys):
    main(["--store", str(tmp_path / "memory.db"), "recall", "anything", "--json"])
    assert json.loads(capsys.readouterr().err)["error"] == "store_missing"


def test_a_folder_of_notes_that_becomes_a_mirror_begins_a_store(tmp_path, capsys):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "vpn.md").write_text("Deploys need the VPN\n")
    store = ["--store", str(tmp_path / "new.db"), "--scope", "global"]

    assert main([*store, "mirror", "init", str(tmp_path / "notes")]) == 0
    assert main([*store, "list", "--count"]) == 0 and capsys.readouterr().out.endswith("1\n")


@pytest.mark.parametrize(
    "argv",
    [("remember", "Deploys need the VPN"), ("fact", "user.city", "Tampa"), ("session", "start", "s1")],
    ids=lambda argv: argv[0],
)
def test_what_writes_begins_a_store_as_before(tmp_path, argv):
    path = tmp_path / "new" / "memory.db"
    assert main(["--store", str(path), "--scope", "global", *argv]) == 0
    assert path.is_file()


REFUSED = [
    ("remember", ""), ("remember", "x", "--kind", "whim"), ("remember", "x", "--valid-from", "whenever"),
    ("remember", "x", "--because", ID), ("remember", "ghp_" + "a1B2" * 9),
    ("fact", "city", "Tampa"), ("fact", "user.city", ""), ("import", "jsonl", "none.jsonl"), ("import", "jsonl", "bad.jsonl"),
    ("import", "segments", "none"), ("import", "memori", "none.db"), ("import", "transcripts", "none"), ("organize", "none"),
    ("serve", "device", "trust", "none"),
]  # fmt: skip


@pytest.mark.parametrize("in_checkout", [False, True])
@pytest.mark.parametrize("argv", REFUSED, ids=" ".join)
def test_a_first_write_that_is_refused_begins_no_store(tmp_path, monkeypatch, argv, in_checkout):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.jsonl").write_text('{"content": ""}\n')
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "vpn.md").write_text("Deploys need the VPN\n")
    if in_checkout:
        (tmp_path / ".git").mkdir()
        monkeypatch.delenv("LIMPET_SCOPE", raising=False)
    path = tmp_path / "new" / "memory.db"

    assert main(["--store", str(path), *(() if in_checkout else ("--scope", "global")), *argv]) in (1, 2)

    assert not path.parent.exists()


def test_processes_that_begin_one_store_at_once_all_store(tmp_path):
    """Each has seen that there is none."""
    path = tmp_path / "new" / "memory.db"
    command = [sys.executable, "-m", "limpet", "--store", str(path), "--scope", "global", "remember"]
    running = [subprocess.Popen([*command, f"the shelf number {number} is full"]) for number in range(4)]

    assert [one.wait() for one in running] == [0] * 4

    with limpet.open(path, scope="global") as memory:
        assert memory.count() == 4 and memory.verify() == []


def test_a_dry_run_where_no_store_is_says_what_would_come_and_begins_none(tmp_path, capsys):
    lines, path = tmp_path / "notes.jsonl", tmp_path / "new" / "memory.db"
    lines.write_text('{"content": "The bakery opens at six"}\n')

    assert main(["--store", str(path), "--scope", "global", "import", "jsonl", str(lines), "--dry-run"]) == 0

    assert "would be new 1" in capsys.readouterr().out
    assert not path.parent.exists()


def test_in_python_open_begins_a_store_unless_told_not_to(tmp_path):
    path = tmp_path / "new" / "memory.db"
    for given in ({"create": False}, {"read_only": True}):
        with pytest.raises(limpet.StoreMissing, match="no store at"):
            limpet.open(path, **given)
        assert not path.parent.exists()

    limpet.open(path).close()
    with limpet.open(path, create=False) as memory:
        assert memory.count() == 0


def test_a_hook_that_only_looks_up_tells_the_agent_nothing_where_no_store_is(tmp_path, clock):
    path = tmp_path / "new" / "memory.db"
    starts = [(client, event, data) for client, event, data in inputs.ALL if "ession" in event and "tart" in event]
    asked = [(client, event, data) for client, event, data, _ in inputs.MESSAGES]
    assert starts and asked
    for client, event, data in starts + asked:
        argv = [client, event, "--store", str(path), "--scope", "global"]
        out = handle(argv, json.dumps(data).encode(), clock)
        assert not out or list(json.loads(out)) == ["systemMessage"], "that is for the user"
    assert not path.parent.exists()
