"""Devices that share a folder: through git, with broken files, with copied stores, with clocks that are wrong."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import limpet
from limpet.cli.main import main
from tests.devices import OPERATIONS, Device, check_keys, everything, same_time, seeded, texts


@pytest.fixture
def shared(tmp_path):
    return tmp_path / "shared"


@pytest.fixture
def two(tmp_path):
    devices = [Device(tmp_path / f"{name}.db", name) for name in ("laptop", "desk")]
    yield devices
    for one in devices:
        one.close()


def exchange(shared, *devices):
    for one in devices:
        one.memory.export_to("segments", shared)
    return [one.memory.import_from("segments", shared) for one in devices]


def files(shared):
    return sorted(shared.glob("*/*.jsonl"))


def git(folder, *words):
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main", *words],
        cwd=folder, check=True, capture_output=True, timeout=60,
    )  # fmt: skip


def test_two_devices_meet_in_a_git_repository_and_lose_no_text(tmp_path, two):
    """A thousand random operations each, a push and a pull now and then."""
    hub = tmp_path / "hub.git"
    git(tmp_path, "init", "--bare", str(hub))
    clones = []
    for one in two:
        git(tmp_path, "clone", str(hub), f"clone-{one.name}")
        clones.append(tmp_path / f"clone-{one.name}")

    def sync(one, clone):
        one.memory.export_to("segments", clone)
        git(clone, "add", "-A")
        git(clone, "commit", "--allow-empty", "-m", "memories")
        listed = subprocess.run(["git", "ls-remote", str(hub), "main"], capture_output=True, timeout=60, check=True)
        if listed.stdout:
            git(clone, "pull", "--no-rebase", "--no-edit", "--allow-unrelated-histories", "origin", "main")
        git(clone, "push", "origin", "HEAD:main")
        assert one.memory.import_from("segments", clone).rejected == []

    # A purge is the one thing that destroys: it has its own tests.
    operations = [one for one in OPERATIONS if one != "purge"]
    draw = seeded(7)
    for step in range(1_000):
        for one, clone in zip(two, clones, strict=True):
            one.act(operations[draw(len(operations))], draw)
            if step % 250 == 100 + 50 * (one is two[0]):
                sync(one, clone)
    for _ in range(2):
        for one, clone in zip(two, clones, strict=True):
            sync(one, clone)

    same_time(two)
    laptop, desk = (everything(one.memory) for one in two)
    assert laptop == desk
    said = two[0].said | two[1].said
    for one in two:
        assert said <= texts(one.memory)
        assert one.memory.verify() == []
        check_keys(one.memory)


def test_a_key_set_on_two_devices_has_one_value_and_waits_for_review(two, shared):
    laptop, desk = two
    laptop.memory.set_fact("user.city", "Paris")
    exchange(shared, laptop, desk)
    laptop.clock.advance(hours=1)
    desk.clock.advance(hours=2)
    laptop.memory.set_fact("user.city", "Tampa")
    desk.memory.set_fact("user.city", "Oslo")
    exchange(shared, laptop, desk)
    desk.memory.import_from("segments", shared)
    laptop.memory.import_from("segments", shared)
    same_time(two)

    for one in two:
        assert one.memory.fact("user.city").value == "Oslo"
        assert [fact.value for fact in one.memory.fact_history("user.city")] == ["Paris", "Tampa", "Oslo"]
        (waits,) = one.memory.review()
        assert (waits.kind, waits.memory.content, waits.other.content) == ("concurrent", "Oslo", "Tampa")

    laptop.memory.accept(laptop.memory.review()[0].id)
    exchange(shared, laptop, desk)
    assert desk.memory.review() == []


def test_words_edited_on_two_devices_are_both_kept(two, shared):
    laptop, desk = two
    id = laptop.memory.remember("Deploys run on Friday").id
    exchange(shared, laptop, desk)
    laptop.clock.advance(hours=1)
    desk.clock.advance(hours=2)
    laptop.memory.edit(id, "Deploys run on Friday at noon")
    desk.memory.edit(id, "Deploys run on Friday evening")
    reports = exchange(shared, laptop, desk)

    for one in two:
        assert one.memory.get(id).content == "Deploys run on Friday evening"
        assert "Deploys run on Friday at noon" in [version.content for version in one.memory.history(id)]
    assert all(any("edited on two devices" in note for note in report.notes) for report in reports[:1])


def test_a_clock_that_is_wrong_does_not_turn_cause_and_effect_round(two, shared):
    """The desk's clock is a day behind: what it corrects was still there before."""
    laptop, desk = two
    desk.clock.set(laptop.clock.now() - 86_400_000_000)
    old = laptop.memory.remember("The limit is 100")
    exchange(shared, laptop, desk)
    desk.memory.edit(old.id, "The limit is 100 a minute")
    laptop.memory.tag(old.id, ["api"])
    exchange(shared, laptop, desk)

    for one in two:
        assert one.memory.get(old.id).content == "The limit is 100 a minute"
        assert one.memory.verify() == []
    assert everything(laptop.memory)["ledger"] == everything(desk.memory)["ledger"]


def test_what_was_purged_leaves_the_other_devices_and_comes_back_from_nowhere(two, shared, tmp_path):
    laptop, desk = two
    id = laptop.memory.remember("the code is zyxsecret").id
    exchange(shared, laptop, desk)
    desk.clock.advance(hours=1)
    desk.memory.edit(id, "the code was zyxsecret")
    exchange(shared, desk, laptop)
    old = tmp_path / "old"
    shutil.copytree(shared, old)

    laptop.memory.purge(id, confirm=True)
    report = laptop.memory.export_to("segments", shared)
    assert any("written again" in note for note in report.notes)
    assert list(report.notes)[-1].endswith("still holds what was purged, until its device imports and exports")
    assert desk.memory.import_from("segments", shared).purged == 1
    desk.memory.export_to("segments", shared)
    assert not any(b"zyxsecret" in path.read_bytes() for path in files(shared))

    late = Device(tmp_path / "late.db", "late")
    assert late.memory.import_from("segments", shared).rejected == []
    for one in (laptop, desk, late):
        one.memory.import_from("segments", old)
        assert one.memory.get(id).state == "purged"
        assert one.memory.verify() == []
        one.memory.close()
        assert not any(b"zyxsecret" in path.read_bytes() for path in tmp_path.glob(f"{one.name}.db*"))


@pytest.mark.parametrize("harm", ["cut", "changed", "empty", "renamed", "missing", "newer", "header", "order"])
def test_a_broken_segment_is_reported_and_the_rest_goes_in(two, shared, harm):
    laptop, desk = two
    laptop.memory.remember("the first")
    laptop.memory.export_to("segments", shared)
    laptop.memory.remember("the second")
    laptop.memory.export_to("segments", shared)
    first, second = files(shared)
    whole, name = first.read_bytes(), first.name
    if harm == "missing":
        first.rename(shared / "away")
    else:
        wrong = {
            "cut": whole[:-20],
            "changed": whole.replace(b"the first", b"the worst"),
            "empty": b"",
            "renamed": whole,
            "newer": whole.replace(b'"limpet_segment":1', b'"limpet_segment":2'),
            "header": whole.replace(b'"number":1', b'"number":7'),
            "order": whole.replace(b'"order":[', b'"order":[-'),
        }[harm]
        first.write_bytes(wrong)
        if harm in ("newer", "header", "order"):
            import hashlib

            first.rename(first.with_name(f"00000001-{hashlib.sha256(wrong).hexdigest()[:32]}.jsonl"))
        elif harm == "renamed":
            first.rename(first.with_name("00000001-conflicted copy.jsonl"))

    report = desk.memory.import_from("segments", shared)
    assert report.rejected
    assert [one.content for one in desk.memory.list().memories] == ["the second"]
    for path in files(shared):
        if path != second:
            path.unlink()
    first.with_name(name).write_bytes(whole)
    assert desk.memory.import_from("segments", shared).rejected == []
    assert desk.memory.count() == 2


def test_an_event_of_a_memory_that_is_missing_waits_for_it(two, shared, tmp_path):
    laptop, desk = two
    id = laptop.memory.remember("the first").id
    laptop.memory.export_to("segments", shared)
    laptop.memory.edit(id, "the first, in better words")
    laptop.memory.export_to("segments", shared)
    first = files(shared)[0]
    first.rename(tmp_path / "later")

    report = desk.memory.import_from("segments", shared)
    assert any("in no segment here yet" in reason for _, reason in report.rejected)
    (tmp_path / "later").rename(first)
    assert desk.memory.import_from("segments", shared).rejected == []
    assert desk.memory.get(id).content == "the first, in better words"


def test_a_copied_store_is_another_device(two, shared, tmp_path):
    laptop, desk = two
    laptop.memory.remember("before the copy")
    first = laptop.memory.export_to("segments", shared).device
    laptop.memory.backup(tmp_path / "copy.db")
    copy = Device(tmp_path / "copy.db", "copy")
    copy.memory.remember("said by the copy")
    laptop.memory.remember("said by the original")

    assert copy.memory.export_to("segments", shared).device != first
    assert laptop.memory.export_to("segments", shared).device == first
    for one in (laptop, copy, desk):
        assert one.memory.import_from("segments", shared).rejected == []
        assert one.memory.count() == 3
    same_time([laptop, copy, desk])
    assert everything(copy.memory) == everything(laptop.memory) == everything(desk.memory)
    copy.close()


def test_a_store_put_back_from_a_backup_writes_no_segment_twice(two, shared, tmp_path):
    """The same file in the same place, but older than what it exported."""
    laptop, desk = two
    laptop.memory.remember("before the backup")
    device = laptop.memory.export_to("segments", shared).device
    laptop.memory.backup(tmp_path / "backup.db")
    laptop.memory.remember("lost from the file, not from the folder")
    laptop.memory.export_to("segments", shared)
    laptop.memory.close()
    with (tmp_path / "backup.db").open("rb") as source, (tmp_path / "laptop.db").open("wb") as target:
        shutil.copyfileobj(source, target)
    for beside in ("laptop.db-wal", "laptop.db-shm"):
        (tmp_path / beside).unlink(missing_ok=True)

    laptop.memory = limpet.open(tmp_path / "laptop.db", scope="project:api", clock=laptop.clock)
    laptop.memory.remember("said after")
    before = {path: path.read_bytes() for path in files(shared)}
    assert laptop.memory.export_to("segments", shared).device != device
    assert all(path.read_bytes() == content for path, content in before.items())
    for one in (laptop, desk):
        assert one.memory.import_from("segments", shared).rejected == []
        assert one.memory.count() == 3


def test_files_imported_on_two_devices_become_the_same_memories(two, shared, tmp_path):
    """An import gives the same ids everywhere; read on two days, from a file that was changed in between."""
    laptop, desk = two
    notes = tmp_path / "memory.json"
    notes.write_text('{"type":"entity","name":"db","entityType":"system","observations":["Postgres 15 is in use"]}\n')
    laptop.memory.import_from("mcp", notes)
    desk.clock.advance(days=1)
    desk.memory.import_from("mcp", notes)
    exchange(shared, laptop, desk)
    same_time(two)
    assert everything(laptop.memory) == everything(desk.memory)
    assert laptop.memory.count() == 1


def test_the_second_exchange_moves_nothing(two, shared):
    laptop, desk = two
    for i in range(5):
        laptop.memory.remember(f"statement {i}")
        desk.memory.set_fact("a.b", f"value {i}")
    exchange(shared, laptop, desk)
    before = {path: path.stat().st_mtime_ns for path in files(shared)}
    for report in exchange(shared, laptop, desk):
        assert (report.segments, report.new) == (0, 0)
    assert {path: path.stat().st_mtime_ns for path in files(shared)} == before


def test_an_undo_reaches_the_other_device(two, shared):
    laptop, desk = two
    laptop.memory.set_fact("user.city", "Paris")
    exchange(shared, laptop, desk)
    desk.memory.set_fact("user.city", "Oslo")
    exchange(shared, laptop, desk)
    laptop.memory.undo()
    exchange(shared, laptop, desk)
    for one in two:
        assert one.memory.fact("user.city").value == "Paris"


def test_recall_finds_what_another_device_said(two, shared, ids):
    laptop, desk = two
    desk.memory.remember("something of its own, recalled before")
    desk.memory.recall("own")
    desk.memory.recall("own")
    id = laptop.memory.remember("SQLite writers take turns: begin immediate").id
    laptop.memory.edit(id, "SQLite writers take turns: BEGIN IMMEDIATE and wait")
    exchange(shared, laptop, desk)
    same_time(two)
    assert ids(desk.memory.recall("sqlite writers", lexical_only=True)) == [id]
    assert desk.memory.work().failed == 0
    assert ids(desk.memory.recall("two processes write to one database"))[0] == id


def test_the_commands_say_what_they_did(two, shared, tmp_path, capsys):
    laptop, desk = two
    laptop.memory.remember("said on the laptop")
    store = ["--store", str(tmp_path / "laptop.db")]
    assert main([*store, "export", "segments", str(shared)]) == 0
    assert "exported 1 event" in capsys.readouterr().err
    other = ["--store", str(tmp_path / "desk.db")]
    assert main([*other, "import", "segments", str(shared), "--dry-run"]) == 0
    assert "would be new 1," in capsys.readouterr().out
    assert desk.memory.count() == 0
    files(shared)[0].write_bytes(b"{}")
    assert main([*other, "import", "segments", str(shared)]) == 2
    assert "do not fit its name" in capsys.readouterr().err
    assert main([*other, "import", "segments", str(tmp_path / "nowhere")]) == 2


def test_a_session_begins_with_the_earliest_that_names_it_and_is_gone_with_the_last(two):
    """A move into a scope where a session of that name is; then the purge of what alone had named it."""
    one, _ = two
    memory, other = one.memory, one.memory.in_scope("project:web")
    first = memory.remember("The limit is 100", session="s1").id
    one.clock.advance(hours=1)
    second = other.remember("Deploys run on Tuesday", session="s1").id
    lone = memory.remember("Retries are capped", session="s2").id
    memory.move([first, lone], "project:web")
    began = {one.name: one.started_at_us for one in other.sessions()}
    assert began == {"s1": other.get(first).created_at_us, "s2": other.get(lone).created_at_us}

    other.purge(first, confirm=True)
    other.purge(lone, confirm=True)
    assert {one.name: one.started_at_us for one in other.sessions()} == {"s1": other.get(second).created_at_us}
    before = everything(memory)
    memory.rebuild()
    assert everything(memory) == before
