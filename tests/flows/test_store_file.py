"""The file a store lives in: what is refused, what is kept safe, how damage is found."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import limpet
from limpet.settings import default_path, read_settings
from limpet.store.sqlite.connection import NETWORK_FILE_SYSTEMS, check_place, file_system_of


@pytest.fixture
def stored(path, clock):
    """A closed store with three memories and their vectors."""
    with limpet.open(path, scope="project:api", clock=clock) as memory:
        for text in ("Deploys run on Friday", "The cat sleeps", "Bread rests overnight"):
            memory.remember(text, session="s")
        memory.work()
    return path


def alter(path, *statements):
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_a_new_store_is_private_and_makes_its_folder(tmp_path, clock):
    path = tmp_path / "deep" / "er" / "memory.db"
    with limpet.open(path, scope="global", clock=clock) as memory:
        memory.remember("text")
        assert memory.path == str(path)
    assert path.stat().st_mode & 0o077 == 0


def test_a_directory_is_no_store(tmp_path):
    with pytest.raises(limpet.StoreError, match="directory") as error:
        limpet.open(tmp_path)
    assert error.value.exit_code == 3
    assert error.value.hint


def test_a_folder_below_a_file_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(limpet.StoreError):
        limpet.open(tmp_path / "file" / "memory.db")


@pytest.mark.parametrize(
    "content", [b"some notes, as text\n" * 9, b"\x00" * 5_000, b"SQLite for"], ids=["text", "zeros", "cut"]
)
def test_another_file_is_refused_and_left_untouched(path, content):
    path.write_bytes(content)
    for read_only in (False, True):
        with pytest.raises(limpet.StoreDamaged):
            limpet.open(path, read_only=read_only)
    assert path.read_bytes() == content


def test_the_sqlite_file_of_another_program_is_refused_and_left_untouched(path):
    for version in (0, 1):
        other = sqlite3.connect(path)
        other.execute(f"CREATE TABLE mine{version} (x)")
        other.execute(f"PRAGMA user_version={version}")
        other.commit()
        other.close()
        content = path.read_bytes()
        for read_only in (False, True):
            with pytest.raises(limpet.StoreDamaged):
                limpet.open(path, read_only=read_only)
        assert path.read_bytes() == content


def test_an_empty_file_becomes_a_store(path):
    path.touch()
    with pytest.raises(limpet.StoreDamaged):
        limpet.open(path, read_only=True)
    with limpet.open(path, scope="global") as memory:
        assert memory.count() == 0


def test_a_truncated_store_is_damaged_and_says_so(stored):
    data = stored.read_bytes()
    stored.write_bytes(data[: len(data) // 2])

    with pytest.raises(limpet.StoreDamaged) as error, limpet.open(stored, scope="project:api") as memory:
        if memory.verify():
            raise limpet.StoreDamaged("found by verify", hint="x")

    assert error.value.hint


@pytest.mark.parametrize("version", [8, 99])
def test_a_store_of_another_version_is_refused_and_left_untouched(stored, version):
    alter(stored, f"PRAGMA user_version={version}")
    before = stored.read_bytes()
    for read_only in (False, True):
        with pytest.raises(limpet.StoreOfAnotherVersion, match=str(version)) as error:
            limpet.open(stored, read_only=read_only)
        assert "export jsonl" in error.value.hint and "import jsonl" in error.value.hint
    assert stored.read_bytes() == before


def test_a_read_only_store_reads_everything_and_refuses_every_write(stored, clock, tmp_path):
    with limpet.open(stored, scope="project:api", clock=clock, read_only=True) as memory:
        id = memory.list().memories[0].id
        assert memory.read_only
        assert memory.recall("deploys").items[0].content == "Deploys run on Friday"
        assert memory.show(id).uses == 0
        assert memory.verify() == []
        assert memory.export_to("jsonl", tmp_path / "out.jsonl").new == 3
        for write in (
            lambda: memory.remember("more"), lambda: memory.edit(id, "x"), lambda: memory.pin(id), memory.undo,
            lambda: memory.purge(id, confirm=True), lambda: memory.feedback(id, "useful"), memory.rebuild, memory.gc,
            lambda: memory.remember_batch([{"content": "x"}]),
        ):  # fmt: skip
            with pytest.raises(limpet.StoreReadOnly):
                write()
        assert memory.purge(id, dry_run=True).purged is False
        assert memory.count() == 3


def test_a_store_that_is_not_there_is_not_made_by_reading(path):
    with pytest.raises(limpet.StoreError, match="no store"):
        limpet.open(path, read_only=True)
    assert not path.exists()


def test_a_closed_store_can_be_closed_again(stored):
    memory = limpet.open(stored, scope="global")
    memory.close()
    memory.close()
    with limpet.open(stored, scope="global") as again:
        assert again.verify() == []


def test_a_store_in_memory_works_and_leaves_no_file(tmp_path, monkeypatch, clock):
    monkeypatch.chdir(tmp_path)
    with limpet.open(":memory:", scope="global", clock=clock) as memory:
        memory.remember("Deploys run on Friday")
        assert memory.recall("deploys", lexical_only=True).items
        assert memory.verify() == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/mounts")
def test_the_file_system_of_a_path_is_known(tmp_path):
    assert file_system_of(Path("/proc/self/memory.db")) == "proc"
    assert file_system_of(tmp_path / "memory.db") not in {None, "proc"}


def test_network_file_systems_are_those_whose_locks_fail(tmp_path):
    assert {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"} <= NETWORK_FILE_SYSTEMS
    assert not {"ext4", "xfs", "btrfs", "overlay", "tmpfs", "apfs", "zfs"} & NETWORK_FILE_SYSTEMS
    check_place(tmp_path / "memory.db", read_only=False)


def test_a_backup_holds_everything_and_opens(stored, clock, tmp_path):
    steps = []
    with limpet.open(stored, scope="project:api", clock=clock) as memory:
        memory.remember("Not yet in the file, only in its log")
        memory.backup(tmp_path / "copy.db", progress=lambda done, total: steps.append((done, total)))
        expected = [one.as_dict() for one in memory.list().memories]
    assert steps[-1][0] == steps[-1][1]
    assert not list(tmp_path.glob("*.partial"))
    assert (tmp_path / "copy.db").stat().st_mode & 0o077 == 0

    with limpet.open(tmp_path / "copy.db", scope="project:api", clock=clock) as copy:
        assert [one.as_dict() for one in copy.list().memories] == expected
        assert copy.verify() == []
        assert copy.recall("feline", k=1, without=["lexical"]).items[0].content == "The cat sleeps"


def test_a_backup_overwrites_nothing_and_needs_a_folder(stored, tmp_path):
    (tmp_path / "there").write_text("precious")
    with limpet.open(stored, scope="project:api") as memory:
        for target in (tmp_path / "there", stored, tmp_path / "no" / "folder.db"):
            with pytest.raises(limpet.BadInput):
                memory.backup(target)
    assert (tmp_path / "there").read_text() == "precious"


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        ("UPDATE memory SET body = 999 WHERE num = 1", "text"),
        ("DELETE FROM memory WHERE num = 1", "projection"),
        ("DELETE FROM vector WHERE body = 1", "vectors"),
        ("UPDATE vector SET slot = slot + 5", "vectors"),
        ("UPDATE vector SET body = body + 100", "vectors"),
        ("UPDATE memory SET state = 'purged' WHERE num = 1", "text"),
        ("INSERT INTO body_fts (body_fts) VALUES ('delete-all')", "index"),
        ("UPDATE event SET data = '{' WHERE seq = 1", "ledger"),
        ("UPDATE event SET type = 'edited' WHERE seq = 1", "ledger"),
    ],
)
def test_verify_finds_damage(stored, damage, check):
    alter(stored, damage)
    with limpet.open(stored, scope="project:api") as memory:
        assert check in {problem.check for problem in memory.verify()}
        assert "fail" in {finding.status for finding in memory.doctor()}


def test_rebuild_makes_the_projections_anew_from_the_ledger(stored, clock):
    with limpet.open(stored, scope="project:api", clock=clock) as memory:
        expected = [one.as_dict() for one in memory.list().memories]
    alter(
        stored,
        "UPDATE memory SET kind = 'goal', topics = '[\"x\"]'",
        "INSERT INTO body_fts (body_fts) VALUES ('delete-all')",
    )

    with limpet.open(stored, scope="project:api", clock=clock) as memory:
        assert {problem.check for problem in memory.verify()} == {"index", "projection"}
        assert memory.rebuild() == 3
        assert [one.as_dict() for one in memory.list().memories] == expected
        assert memory.verify() == []
        assert memory.recall("deploys", lexical_only=True).items
        assert memory.stats().vectors == 3


def test_gc_gives_space_back_and_deletes_no_memory(memory):
    stored = [memory.remember(f"{i} " + "word " * 5_000).id for i in range(20)]
    for id in stored[1:]:
        memory.purge(id, confirm=True)
    before = memory.get(stored[0]).as_dict()

    report = memory.gc()

    assert report["after_bytes"] < report["before_bytes"]
    assert memory.get(stored[0]).as_dict() == before
    assert memory.verify() == []


def test_doctor_says_how_things_are(memory):
    fresh = {one.name: one for one in memory.doctor()}
    assert list(fresh) == ["store", "content", "queue", "embedder", "rules", "relations", "encryption", "scope"]
    assert {one.status for one in fresh.values()} == {"ok"}
    assert "project:api" in fresh["scope"].message

    memory.remember("text")
    waiting = {one.name: one for one in memory.doctor()}["queue"]
    assert (waiting.status, waiting.hint) == ("warn", "limpet work")


def test_settings_come_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("LIMPET_STORE", str(tmp_path / "env.db"))
    monkeypatch.setenv("LIMPET_SCOPE", "team:x")
    monkeypatch.setenv("LIMPET_EMBEDDER", "openai:x,url=http://127.0.0.1:9/nonesuch")
    monkeypatch.setenv("LIMPET_DURABILITY", "normal")
    with limpet.open() as memory:
        assert (memory.path, memory.scope) == (str(tmp_path / "env.db"), "team:x")
        memory.remember("text")
        with pytest.raises(limpet.EmbedderUnavailable, match="nonesuch"):
            memory.work()
    with limpet.open(tmp_path / "given.db", scope="given") as memory:
        assert (memory.path, memory.scope) == (str(tmp_path / "given.db"), "given")


def test_an_embedder_that_nothing_knows_is_an_error_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("LIMPET_EMBEDDER", "nonesuch")
    with pytest.raises(limpet.BadInput, match="no embedder is called 'nonesuch'"):
        limpet.open(tmp_path / "memory.db")


def test_a_commit_is_flushed_to_the_disk_unless_it_is_asked_not_to(tmp_path, monkeypatch):
    def synchronous(**given):
        with limpet.open(tmp_path / "memory.db", **given) as memory, memory._context.store.database.writing() as con:
            return con.execute("PRAGMA synchronous").get

    monkeypatch.delenv("LIMPET_DURABILITY")
    full, normal = 2, 1
    assert (synchronous(), synchronous(durable=False)) == (full, normal)
    monkeypatch.setenv("LIMPET_DURABILITY", "normal")
    assert (synchronous(), synchronous(durable=True)) == (normal, full)


def test_a_setting_of_nothing_is_refused(tmp_path, monkeypatch):
    for path in ("mysql://localhost/x", "a\0b"):
        with pytest.raises(limpet.BadInput):
            limpet.open(path)
    monkeypatch.setenv("LIMPET_DURABILITY", "sometimes")
    with pytest.raises(limpet.BadInput, match="LIMPET_DURABILITY"):
        limpet.open(tmp_path / "x.db")


def test_the_default_store_is_in_the_users_data_folder():
    assert Path(default_path()).name == "memory.db"
    assert "limpet" in Path(default_path()).parts


def test_the_default_scope_is_the_git_checkout_else_the_folder(tmp_path, monkeypatch):
    inside = tmp_path / "my app" / "src" / "deep"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert read_settings(None, None, None).scope == "project:deep"

    (tmp_path / "my app" / ".git").mkdir()
    assert read_settings(None, None, None).scope == "project:my-app"
    with limpet.open(tmp_path / "x.db") as memory:
        assert memory.scope == "project:my-app"


def test_worktrees_share_the_scope_of_their_checkout(tmp_path, monkeypatch):
    main = tmp_path / "shop"
    main.mkdir()
    user = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (
        ["init", "-q"],
        [*user, "commit", "-q", "--allow-empty", "-m", "x"],
        ["worktree", "add", "-q", "../other"],
    ):
        subprocess.run(["git", *command], cwd=main, check=True, capture_output=True)
    monkeypatch.chdir(tmp_path / "other")

    assert read_settings(None, None, None).scope == "project:shop"

    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / ".git").write_text("gitdir: /nowhere\n")
    monkeypatch.chdir(tmp_path / "broken")
    assert read_settings(None, None, None).scope == "project:broken"
