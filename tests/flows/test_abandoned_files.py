"""What a killed process leaves unfinished is private, named by doctor, and gone at the next start; not while it is written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import limpet
from limpet.folders import partial_name, partials

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no kill -9")

WORD = "okapi-vault-9917"
RESTORES = """
import os, sys
import limpet

def stop(done, total):
    print("copied", flush=True)
    sys.stdin.readline()

limpet.restore_backup(sys.argv[1], sys.argv[2], progress=stop)
"""


@pytest.fixture
def restoring(path, tmp_path):
    """A process in the middle of a restore, which waits for a line; what it has is whole copies of the store."""
    with limpet.open(path, scope="project:api") as memory:
        memory.remember(f"The boat at the pier is called {WORD}")
        memory.backup(tmp_path / "copies.backup")
    process = subprocess.Popen(
        [sys.executable, "-c", RESTORES, str(path), str(tmp_path / "copies.backup")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "copied\n"
    yield process
    process.kill()
    process.communicate(timeout=60)


def partial(path):
    return [name for name in partials(str(path.parent)) if WORD.encode() in Path(name).read_bytes()]


def test_a_killed_restore_leaves_a_private_copy_that_the_next_start_removes(restoring, path):
    restoring.send_signal(signal.SIGKILL)
    restoring.communicate(timeout=60)
    left = partial(path)
    assert left and {Path(name).stat().st_mode & 0o777 for name in left} == {0o600}

    with limpet.open(path, read_only=True) as memory:  # removes nothing
        named = {check.name: check.message for check in memory.doctor()}["partial"]
    assert all(name in named for name in left)

    with limpet.open(path, scope="project:api") as memory:
        assert "partial" not in {check.name for check in memory.doctor()}
    assert partials(str(path.parent)) == []


def test_what_another_process_still_writes_stays(restoring, path):
    left = partial(path)

    with limpet.open(path, scope="project:api") as memory:
        assert "partial" in {check.name for check in memory.doctor()}
        memory.backup(path.with_name("other.backup"))

    assert left and partial(path) == left
    restoring.communicate("\n" * 99, timeout=60)
    assert restoring.returncode == 0 and partials(str(path.parent)) == []


def test_the_next_file_that_is_written_in_a_folder_clears_it(memory, tmp_path):
    """Also of what no process of this machine can be asked about, a day later: a folder of an export, a container's."""
    elsewhere = tmp_path / "copies"
    elsewhere.mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", "from limpet.folders import partial_name; print(partial_name())"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    own, foreign, old = partial_name(), ".limpet-0badf00d-1-00.partial", ".limpet-0badf00d-2-00.partial"
    for name in (ended + "-journal", own, foreign, old):
        (elsewhere / name).write_text(WORD)
    (elsewhere / ended).mkdir()
    (elsewhere / ended / "part").write_text(WORD)
    os.utime(elsewhere / old, (0, 0))

    memory.remember("Deploys run on Tuesday")
    memory.backup(elsewhere / "new.backup")

    assert {file.name for file in elsewhere.iterdir()} == {own, foreign, "new.backup"}
