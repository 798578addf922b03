"""Questions that work has, asked of the histories of others: where an error was and what ended it, files, commands."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# At least so many of 24 errors, their ends, 8 unseen ones, 20 files and 20 commands.
LEAST = {"error right": 21, "end right": 18, "error none right": 6, "file right": 15, "how right": 14}


@pytest.mark.measurement
@pytest.mark.parametrize("name", ["work_a", "work_b", "work_c"])
def test_errors_files_and_commands_of_a_history_are_found(name):
    done = subprocess.run([sys.executable, "-m", "benchmarks.work", name], capture_output=True, text=True, check=True)
    counts = json.loads(done.stdout)
    assert {kind: counts.get(kind, 0) for kind, least in LEAST.items() if counts.get(kind, 0) < least} == {}
