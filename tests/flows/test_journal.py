"""The journal under a person's hands: its lines are seen, found, and dropped for good."""

from __future__ import annotations

import json

import pytest

import limpet
from limpet import BadInput, NotFound
from limpet.cli.main import main
from limpet.features import usefulness
from tests.flows.test_organize import run


def told(memory, clock):
    usefulness.note_action(memory, "monday", "asked", "please rotate the staging logs of zebra")
    usefulness.note_action(memory, "monday", "did", "Bash: make rotate")
    clock.advance(days=3)
    usefulness.note_action(memory, "thursday", "asked", "what did we rotate")


def test_lines_are_found_by_session_age_and_words(memory, clock):
    told(memory, clock)

    assert [one.number for one in memory.journal()] == [1, 2, 3]
    assert [one.number for one in memory.journal(session="monday")] == [1, 2]
    assert [one.number for one in memory.journal(since="1 day ago")] == [3]
    assert [one.what for one in memory.journal(match="LOGS staging")] == ["please rotate the staging logs of zebra"]
    assert memory.journal([2])[0].as_dict() | {"at": ""} == {
        "number": 2, "at": "", "session": "monday", "kind": "did", "what": "Bash: make rotate",
    }  # fmt: skip


def test_dropping_takes_what_is_named_and_nothing_else(memory, clock):
    told(memory, clock)

    assert [one.number for one in memory.drop_from_journal([2], dry_run=True).lines] == [2]
    assert len(memory.journal()) == 3
    dropped = memory.drop_from_journal([2])
    assert ([one.number for one in dropped.lines], dropped.erased) == ([2], True)
    assert [one.number for one in memory.journal()] == [1, 3]
    with pytest.raises(NotFound, match="no line 2"):
        memory.drop_from_journal([2, 3])
    with pytest.raises(BadInput, match="which lines"):
        memory.drop_from_journal()
    with pytest.raises(BadInput, match="which lines"):
        memory.drop_from_journal(match="  ")
    assert len(memory.journal()) == 2
    assert memory.drop_from_journal(session="thursday").lines[0].number == 3
    assert memory.drop_from_journal(match="nothing of the kind").lines == ()


def test_lines_of_another_scope_stay(path):
    with limpet.open(path, scope="project:a") as a, limpet.open(path, scope="project:b") as b:
        usefulness.note_action(a, "s", "asked", "we saw a zebra")
        usefulness.note_action(b, "s", "asked", "we saw a zebra too")
        assert [one.number for one in b.drop_from_journal(match="zebra").lines] == [2]
        assert len(a.journal()) == 1


def test_what_was_dropped_is_gone_from_the_files(path):
    """Among lines enough to fill many pages, while the store stays open."""
    with limpet.open(path, scope="project:a") as memory:
        for number in range(400):
            usefulness.note_action(memory, "s", "did", f"Bash: make part-{number} " + "x" * (number % 90))
            if number % 40 == 0:
                usefulness.note_action(
                    memory, "s", "asked", f"the pattern of part {number} is " + "zebra-crossing-" * (1 + number // 4)
                )
        assert len(memory.drop_from_journal(match="zebra-crossing").lines) == 10
        for file in path.parent.iterdir():
            if file.is_file():
                assert b"zebra-crossing" not in file.read_bytes(), file
        assert len(memory.journal()) == 400
        assert memory.verify() == []


def test_a_reader_that_is_still_at_it_is_said_and_the_queue_erases_later(path, monkeypatch, capsys):
    monkeypatch.setattr("limpet.store.sql.journal.FLUSH_SECONDS", 0.2)

    def left():
        return [file.name for file in path.parent.iterdir() if b"zebra" in file.read_bytes()]

    with limpet.open(path, scope="project:a") as memory, limpet.open(path, scope="project:a", read_only=True) as other:
        for code in ("one", "two"):
            usefulness.note_action(memory, "s", "asked", f"we saw zebra {code}")
        with other._context.store.snapshot():
            other.journal()
            assert memory.drop_from_journal(match="one").erased is False
            assert (
                main(["--store", str(path), "--scope", "project:a", "journal", "drop", "--match", "zebra", "--confirm"])
                == 0
            )
            assert "`limpet work`" in capsys.readouterr().err
            memory.work()
            assert left()
        assert memory.journal() == []
        memory.work()
        assert not left()
        assert not memory._context.store.erasure.flush_waits()


def test_the_command(tmp_path):
    store = ["--store", str(tmp_path / "m.db"), "--scope", "project:api"]
    with limpet.open(tmp_path / "m.db", scope="project:api") as memory:
        usefulness.note_action(memory, "s1", "asked", "we saw a zebra")
        usefulness.note_action(memory, "s2", "did", "Bash: make lint")

    listed = run("journal", *store, home=tmp_path)
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["1", "2"]
    assert "zebra" not in run("journal", "--session", "s2", *store, home=tmp_path).stdout
    dry = run("journal", "drop", "--match", "zebra", *store, home=tmp_path)
    assert "zebra" in dry.stdout and "1 line would be erased" in dry.stderr
    dropped = run("journal", "drop", "1", *store, home=tmp_path)
    assert dropped.returncode == 0 and "`limpet undo` does not bring them back" in dropped.stderr
    rest = run("journal", "--json", *store, home=tmp_path)
    assert [json.loads(line)["number"] for line in rest.stdout.splitlines()] == [2]
    assert run("journal", "drop", "7", *store, home=tmp_path).returncode == 1
    assert run("journal", "drop", *store, home=tmp_path).returncode == 2
    assert run("journal", "--match", "zebra", *store, home=tmp_path).returncode == 1


def test_what_options_choose_is_only_shown_until_it_is_confirmed(path, memory, tmp_path):
    for session in ("s1", "s1", "s2"):
        usefulness.note_action(memory, session, "asked", "we saw a zebra")
    chosen = ("journal", "drop", "--session", "s1", "--store", str(path), "--scope", "project:api")

    shown = run(*chosen, home=tmp_path)
    assert shown.returncode == 0 and shown.stdout.count("zebra") == 2
    assert "2 lines would be erased for good; --confirm does it" in shown.stderr and len(memory.journal()) == 3

    dropped = run(*chosen, "--confirm", home=tmp_path)
    assert dropped.returncode == 0 and dropped.stdout.count("zebra") == 2
    assert "2 lines erased for good" in dropped.stderr
    assert [line.session for line in memory.journal()] == ["s2"]
