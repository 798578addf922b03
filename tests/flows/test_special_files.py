"""Folders that hold more than files: a pipe never ends, a socket cannot be read. They are passed over, and it is said."""

from __future__ import annotations

import os
import socket
import threading
from collections import Counter
from pathlib import Path

import pytest

import limpet
from limpet.features import mirror, organize

SAID = "pipes, sockets and other things that are no regular files were skipped"


@pytest.fixture
def within():
    """Run something that must not wait for ever; it is a failure when it does, not a test run that hangs."""

    def run(work):
        answer = []
        thread = threading.Thread(target=lambda: answer.append(work()), daemon=True)
        thread.start()
        thread.join(60)
        assert not thread.is_alive(), "waits for a pipe"
        return answer[0]

    return run


def refusal(work, *given):
    try:
        work(*given)
    except (limpet.LimpetError, OSError) as error:
        return error
    return None


def fill(folder, *suffixes):
    """A pipe and a socket under the name of each kind of file that is read."""
    folder.mkdir(exist_ok=True)
    for suffix in suffixes:
        os.mkfifo(folder / f"pipe{suffix}")
    here = Path.cwd()
    os.chdir(folder)  # the path of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"socket{suffixes[0]}")
    finally:
        os.chdir(here)
    return folder


def test_organizing_a_folder_passes_over_what_is_no_file(memory, tmp_path, within):
    folder = fill(tmp_path / "notes", ".md", ".jsonl", ".json", ".db")
    (folder / "real.md").write_text("- We decided to use Postgres for billing\n")
    report = within(lambda: organize.run(memory, [folder]))
    assert report.notes[SAID] == 5 and report.rejected == []
    assert report.files == 1


@pytest.mark.parametrize(
    ("format", "suffix", "text"),
    [
        ("markdown", ".md", "- Deploys run on Tuesday\n"),
        ("docs", ".md", "# Deploys\n\nThey run on Tuesday.\n"),
        ("code", ".py", 'def deploy():\n    """Deploys run on Tuesday."""\n'),
        ("claude-memory", ".md", "Deploys run on Tuesday\n"),
    ],
)
def test_importing_a_folder_passes_over_what_is_no_file(memory, tmp_path, within, format, suffix, text):
    folder = fill(tmp_path / "project", suffix)
    (folder / f"real{suffix}").write_text(text)
    (folder / f"link{suffix}").symlink_to(folder / f"real{suffix}")
    report = within(lambda: memory.import_from(format, folder))
    # Who moves in with a folder is told each name; of a project they are counted.
    left = Counter(why for _, why in report.rejected) if format == "markdown" else Counter(report.notes)
    assert report.new == 1 and (format == "markdown" or report.rejected == [])
    assert left[SAID] == 2 and left["links of the file system were not followed"] == 1


def test_a_gitignore_that_is_a_pipe_ignores_nothing(memory, tmp_path, within):
    folder = tmp_path / "project"
    folder.mkdir()
    os.mkfifo(folder / ".gitignore")
    (folder / "real.py").write_text('def deploy():\n    """Deploys run on Tuesday."""\n')
    assert within(lambda: memory.import_from("code", folder)).new == 1


def test_a_mirror_reports_what_is_no_file_and_syncs_the_rest(memory, tmp_path, within):
    memory.remember("Deploys run on Tuesday", topics=["deploys"])
    root = tmp_path / "mirror"
    mirror.init(memory, root)
    os.mkfifo(root / "pipe.md")
    (root / "MEMORY.md").unlink()
    os.mkfifo(root / "MEMORY.md")
    memory.remember("Releases are cut on Monday", topics=["releases"])
    report = within(lambda: mirror.sync(memory, root))
    assert "pipe.md" in str(report.as_dict())
    assert "Releases" in (root / "releases.md").read_text()


def test_the_own_files_of_a_mirror_may_be_anything_and_keep_nobody_waiting(memory, tmp_path, within):
    root = tmp_path / "mirror"
    mirror.init(memory, root)
    for name in ("lock", "mirror.json"):
        file = root / ".limpet" / name
        kept = file.read_bytes()
        file.unlink()
        os.mkfifo(file)
        assert isinstance(within(lambda: refusal(mirror.sync, memory, root)), limpet.LimpetError | OSError)
        file.unlink()
        file.write_bytes(kept)


def test_segments_that_are_no_files_are_named_and_left_out(memory, tmp_path, within):
    memory.remember("Deploys run on Tuesday")
    shared = tmp_path / "shared"
    device = memory.export_to("segments", shared).device
    os.mkfifo(shared / device / f"00000009-{'a' * 32}.jsonl")
    report = within(lambda: memory.import_from("segments", shared))
    assert [reason for _, reason in report.rejected] == ["not a segment; left out"]
