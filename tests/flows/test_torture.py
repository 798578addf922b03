"""kill -9 at random instants, several writers and a reader at once: every acknowledged write is there afterwards.

`make torture` sums up ten thousand kills over its runs.
"""

from __future__ import annotations

import json
import subprocess
import sys

import limpet
from tests.certify.processes import kill

KILLS = 30


def test_no_acknowledged_write_is_lost_to_kill_9(tmp_path):
    part = kill(tmp_path / "killed", KILLS, 7, None)

    assert part.problems == []
    assert part.counts["kills"] >= KILLS and part.counts["recoveries"] >= 1
    assert part.counts["acknowledged"] >= KILLS


def test_a_killed_worker_gives_its_jobs_back(path, clock):
    """A lease runs out; nothing waits for ever for a process that died with it."""
    with limpet.open(path, scope="global", clock=clock) as memory:
        memory.remember("a text that someone began to embed")
        now = clock.now()
        assert memory._context.store.jobs.lease("embed", limit=10, at=now, until=now + 60_000_000)
        assert memory.work().done == 0
        clock.advance(seconds=61)
        assert memory.work().done == 1


def test_concurrent_processes_keep_one_current_value_of_a_key(path):
    code = (
        "import sys, limpet\n"
        "with limpet.open(sys.argv[1], scope='global') as memory:\n"
        "    for i in range(15): memory.remember(f'limit {sys.argv[2]} {i}', key='api.limit')\n"
    )
    limpet.open(path, scope="global").close()
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(path), str(n)], stderr=subprocess.PIPE, text=True)
        for n in range(3)
    ]
    assert [process.communicate()[1] for process in running] == ["", "", ""]
    with limpet.open(path, scope="global") as memory:
        current = [one for one in memory.list(limit=100).memories if one.key == "api.limit"]
        assert len(current) == 1
        assert json.dumps(memory.stats().by_state) == '{"active": 1, "superseded": 44}'
