"""Output that nobody takes: closed, broken off or full. The work is done, the exit code says how it went, no traceback."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

import limpet

NOISE = ("Traceback", "Exception ignored", "internal error", "lost sys.std")
# Command -> its exit code when somebody listens. All that prints, in each of its ways.
COMMANDS = {
    "list": 0, "list --json": 0, "recall deploys": 0, "recall deploys --json": 0, "prepare deploys": 0, "stats": 0,
    "recall --lexical deploys": 0, "verify": 0, "remember another": 0, "doctor --models": 0, "--help": 0,
    "show --help": 0, "completion bash": 0, "": 0,
    "nonsense": 2, "nonsense --json": 2, "show 0000000": 1, "list --sort nonsense": 2,
}  # fmt: skip
CLOSED = [">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"]


@pytest.fixture
def shell(path, clock):
    with limpet.open(path, scope="global", clock=clock) as memory:
        memory.remember("Deploys run on Tuesday")

    def run(command, streams):
        start = f"{shlex.quote(sys.executable)} -m limpet --store {shlex.quote(str(path))} --scope global"
        return subprocess.run(
            ["bash", "-c", f"set -o pipefail; {start} {command} {streams}"],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


@pytest.mark.parametrize(
    "command", ["list", "recall --lexical deploys", "stats", "remember another", "nonsense", "--help"]
)
@pytest.mark.parametrize("streams", CLOSED)
def test_a_closed_stream_changes_nothing_but_what_is_seen(shell, command, streams):
    done = shell(command, streams)
    assert not any(one in done.stderr + done.stdout for one in NOISE), done.stderr
    assert done.returncode == COMMANDS[command]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_minds_that_stdout_is_closed(shell, command):
    done = shell(command, ">&-")
    assert not any(one in done.stderr for one in NOISE), done.stderr
    assert done.returncode == COMMANDS[command]


@pytest.mark.parametrize("command", ["list", "list --json", "recall --lexical deploys", "export jsonl -", "nonsense"])
@pytest.mark.parametrize("streams", ["| head -c0", "2>&1 | head -c0"])
def test_a_reader_that_leaves_ends_a_command_quietly(shell, command, streams):
    """As any other program in a pipe: by the code of a broken one, or with its own, when it had nothing to say there."""
    done = shell(command, streams)
    assert done.stderr == "" or command == "nonsense"
    assert not any(one in done.stderr for one in NOISE), done.stderr
    assert done.returncode in (141, COMMANDS.get(command, 0))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "streams", "code"),
    [("list", ">/dev/full", 3), ("list", ">/dev/full 2>/dev/full", 3), ("nonsense", "2>/dev/full", 2)],
)
def test_a_full_disk_under_stdout_is_told_in_words(shell, command, streams, code):
    done = shell(command, streams)
    assert not any(one in done.stderr for one in NOISE) and done.returncode == code


def test_what_cannot_be_done_without_the_stream_says_so(shell):
    for command, streams in (("export jsonl -", ">&-"), ("mcp", "<&-"), ("mcp", "</dev/null >&-")):
        done = shell(command, streams)
        assert done.returncode == 2 and "closed" in done.stderr and "Traceback" not in done.stderr
