"""`python -m tests.certify`: it finds nothing on this disk, and it would find what it looks for. `make certify` runs the whole of it."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import limpet
from tests.certify.failing import fail
from tests.certify.power import FATES, STORE, Disk, judge, record
from tests.certify.processes import check
from tests.certify.recording import Step


def test_the_quick_certificate_finds_nothing_and_leaves_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.certify", str(tmp_path), "--quick", "--json"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    found = json.loads(done.stdout)

    assert done.returncode == 0, found
    assert [part["name"] for part in found["parts"]] == [
        "power loss", "full and failing disk", "kills", "many processes",
    ]  # fmt: skip
    assert found["ok"] and all(part["problems"] == [] for part in found["parts"])
    power, disk, kills, together = (part["counts"] for part in found["parts"])
    assert power["faulted"] == 120 and power["lost"] == power["unopenable"] == 0
    assert sum(power[fate] for fate in FATES) == 120 and power["whole_checks"] > 20
    assert disk["faults"] > 3 and kills["kills"] >= 10 and together["acknowledged"] == 24
    assert found["flush_ms"] > 0 and found["kept"] is None
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return record(tmp_path_factory.mktemp("certify") / "recorded", 20, 3)


def test_a_store_survives_the_loss_of_power(tmp_path, recorded):
    points, told = recorded
    assert judge(tmp_path, points, told, 60, 5).problems == []


@pytest.mark.parametrize("file", ["-wal", ".db"])
def test_a_disk_that_says_flushed_and_is_not_is_found_out(tmp_path, recorded, file):
    """The same record without the flushes of the log, or of the file: what SQLite relied on is not so."""
    points, told = recorded
    lying = [one for one in points if not (one.step.kind == "sync" and one.step.file.endswith(file))]

    part = judge(tmp_path, lying, told, 60, 5)
    assert part.counts["lost"] + part.counts["unopenable"] > 5
    assert part.problems


@pytest.mark.parametrize("fate", FATES)
def test_what_was_flushed_is_there_whatever_becomes_of_the_rest(tmp_path, fate):
    disk = Disk(tmp_path / "disk", random.Random(1))
    disk.go_on(Step("write", STORE, 0, b"a" * 8192))
    disk.go_on(Step("sync", STORE))
    disk.go_on(Step("write", STORE, 4096, b"b" * 4096))
    for _ in range(20):
        disk.lose_power(Step("write", STORE, 8192, b"c" * 4096), fate)
        found = (tmp_path / "disk" / STORE).read_bytes()

        assert found[:4096] == b"a" * 4096
        assert set(found[4096:8192]) <= set(b"ab") and set(found[8192:]) <= set(b"c\0")
        if fate == "kept":
            assert found == b"a" * 4096 + b"b" * 4096 + b"c" * 4096
        if fate == "dropped":
            assert found == b"a" * 8192
        if fate == "torn":
            assert found[4096:8192] == b"b" * 4096 and found[8192:] != b"c" * 4096


def test_a_truncate_that_was_not_flushed_may_not_have_been(tmp_path):
    disk = Disk(tmp_path / "disk", random.Random(1))
    disk.go_on(Step("write", STORE, 0, b"a" * 100))
    disk.go_on(Step("sync", STORE))
    sizes = set()
    for fate in FATES * 5:
        disk.lose_power(Step("truncate", STORE, 10), fate)
        found = (tmp_path / "disk" / STORE).read_bytes()
        assert set(found) == set(b"a")
        sizes.add(len(found))
    assert sizes == {10, 100}


def test_a_disk_that_fails_in_every_other_operation_refuses_in_words(tmp_path):
    part = fail(tmp_path / "failing", 60, 1, None)

    assert part.problems == []
    assert part.counts["refused"] > 10


def test_a_statement_that_is_not_there_is_named(tmp_path):
    with limpet.open(tmp_path / "memory.db", scope="global") as memory:
        one, other = (memory.remember(f"Writer 1 says {number}").id for number in (1, 2))
        memory.purge(other, confirm=True)
    (tmp_path / "1.acknowledged").write_text(f"{one} Writer 1 says 1\n{other} Writer 1 says 2\nhalf a li")

    assert check(tmp_path, whole=True) == (2, [f"'Writer 1 says 2' is not there ({other})"])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_no_writer_goes_on_when_the_certificate_is_killed(tmp_path):
    code = (
        "import sys; from pathlib import Path; from tests.certify.processes import kill\n"
        "kill(Path(sys.argv[1]) / 'killed', 10**9, 1, None)"
    )
    running = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], start_new_session=True)
    until = time.monotonic() + 60
    while not list(tmp_path.glob("killed/*.acknowledged")):
        assert time.monotonic() < until
        time.sleep(0.05)
    running.kill()
    running.wait()
    while sessions(running.pid):
        assert time.monotonic() < until, sessions(running.pid)
        time.sleep(0.05)


def sessions(leader):
    """Processes of a session that still run, by its leader."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader and fields[0] != "Z":
                found.append(stat.parent.name)
    return found


def test_a_folder_that_is_not_there_is_bad_input(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.certify", str(tmp_path / "none"), "--quick"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "is not a folder" in done.stderr
