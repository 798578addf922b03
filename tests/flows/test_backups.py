"""The way back from a backup: checked before, into the live file, and to be undone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import limpet
from limpet.cli.main import main


def run(path, *words):
    return main(["--store", str(path), "--scope", "global", *words])


def contents(path):
    with limpet.open(path, scope="global") as memory:
        return {one.content for one in memory.list().memories}


def beside(path, mark=".replaced-"):
    return sorted(one for one in path.parent.iterdir() if mark in one.name)


# -- restore


@pytest.fixture
def backed_up(path, tmp_path):
    """A store with a backup of what it was, and what came since."""
    run(path, "remember", "Deploys run on Tuesday")
    run(path, "backup", str(tmp_path / "b.backup"))
    run(path, "remember", "Releases are cut on Monday")
    return tmp_path / "b.backup"


def test_a_store_becomes_what_its_backup_is_and_undo_brings_it_back(path, backed_up, capsys):
    assert run(path, "restore", str(backed_up)) == 0
    (kept,) = beside(path)
    assert kept.stat().st_mode & 0o777 == 0o600 and str(kept) in capsys.readouterr().err
    assert contents(path) == {"Deploys run on Tuesday"}

    run(path, "remember", "Said after it")
    assert run(path, "restore", "--undo") == 0
    assert contents(path) == {"Deploys run on Tuesday", "Releases are cut on Monday"}
    assert len(beside(path)) == 1 and beside(path) != [kept]
    assert run(path, "restore", "--undo") == 0
    assert contents(path) == {"Deploys run on Tuesday", "Said after it"}
    assert run(path, "verify") == 0


def test_there_is_nothing_to_undo_without_a_restore(path):
    run(path, "remember", "Deploys run on Tuesday")
    assert run(path, "restore", "--undo") == 1


def test_processes_that_have_it_open_go_on_with_what_was_put_back(path, backed_up):
    """The file stays the same file; what they hold in memory is read anew."""
    with limpet.open(path, scope="global") as memory:
        for n in range(30):
            memory.remember(f"Service number {n} listens on port {9000 + n}")
        memory.work()
        assert "Releases are cut on Monday" in [one.content for one in memory.recall("When are releases cut?").items]
        done = subprocess.run(
            [sys.executable, "-m", "limpet", "--store", str(path), "restore", str(backed_up)],
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert memory.count() == 1
        assert [one.content for one in memory.recall("releases on Monday").items] in ([], ["Deploys run on Tuesday"])
        assert memory.remember("Backups are fine").status == "created"
        memory.work()
        assert memory.recall("Are backups fine?").items[0].content == "Backups are fine"
        assert memory.verify() == []


@pytest.mark.parametrize(
    "harm", ["cut off", "overwritten", "no database", "another program's", "empty", "missing", "the store"]
)
def test_what_is_not_sound_is_refused_and_nothing_changes(path, backed_up, harm):
    size = backed_up.stat().st_size
    if harm == "cut off":
        os.truncate(backed_up, size // 2 // 4096 * 4096)
    elif harm == "overwritten":
        with backed_up.open("r+b") as file:
            for page in range(3, size // 4096, 2):
                file.seek(page * 4096)
                file.write(b"\xff" * 2_000)
    elif harm == "no database":
        backed_up.write_text("a year of notes")
    elif harm == "another program's":
        import sqlite3

        backed_up.unlink()
        con = sqlite3.connect(backed_up)
        con.execute("CREATE TABLE theirs (x)")
        con.close()
    elif harm == "empty":
        os.truncate(backed_up, 0)
    elif harm == "missing":
        backed_up.unlink()
    before = sorted(one.name for one in path.parent.iterdir())
    assert run(path, "restore", str(path if harm == "the store" else backed_up)) in (2, 3)

    assert contents(path) == {"Deploys run on Tuesday", "Releases are cut on Monday"}
    assert sorted(one.name for one in path.parent.iterdir()) == before


@pytest.mark.parametrize("harm", ["gone", "no database", "damaged header"])
def test_a_store_that_cannot_be_opened_is_put_aside_whole(path, backed_up, harm):
    lost = b""
    if harm == "gone":
        path.unlink()
    elif harm == "no database":
        path.write_bytes(lost := b"lost to a text editor")
    else:
        with path.open("r+b") as file:
            file.seek(20)
            file.write(b"\xff" * 80)
        lost = path.read_bytes()
    assert run(path, "restore", str(backed_up)) == 0

    assert contents(path) == {"Deploys run on Tuesday"}
    assert [one.read_bytes() for one in beside(path)] == ([lost] if lost else [])
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_a_restore_kept_is_never_written_over(path, backed_up):
    run(path, "restore", str(backed_up))
    (kept,) = beside(path)
    before = kept.read_bytes()
    assert run(path, "export", "jsonl", str(kept), "--force") == 2
    assert run(path, "backup", str(path) + ".replaced-mine") == 2
    assert kept.read_bytes() == before


def test_restore_still_brings_a_memory_back(path, capsys):
    with limpet.open(path, scope="global") as memory:
        id = memory.remember("Deploys run on Tuesday", id="01890000-0000-7000-8000-0000000000ab").id
    assert run(path, "archive", id) == 0
    assert run(path, "restore", id[:13]) == 0
    assert contents(path) == {"Deploys run on Tuesday"}
    assert run(path, "restore") == 2 and run(path, "restore", "7rk2qm") == 1


def test_python_restores_by_path(path, backed_up):
    kept = limpet.restore_backup(path, backed_up)
    assert contents(path) == {"Deploys run on Tuesday"} and Path(kept).is_file()
    limpet.restore_backup(path)
    assert contents(path) == {"Deploys run on Tuesday", "Releases are cut on Monday"}
    with pytest.raises(limpet.BadInput):
        limpet.restore_backup(":memory:", backed_up)
