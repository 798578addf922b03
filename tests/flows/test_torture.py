"""kill -9 at random instants, several writers and a reader at once: every acknowledged write is there afterwards.

`make torture` runs it at full count (LIMPET_TORTURE kills).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time

import limpet

KILLS = int(os.environ.get("LIMPET_TORTURE", "6"))
WRITERS = 4

WRITER = """
import sys, limpet
path, name = sys.argv[1:]
with limpet.open(path, scope="global") as memory:
    for i in range(10**9):
        receipt = memory.remember(f"writer {name} statement {i}", topics=["torture"], session=name)
        print(receipt.id, flush=True)
        if i % 7 == 3:
            memory.edit(receipt.id, f"writer {name} statement {i}, edited")
"""
READER = """
import sys, limpet
with limpet.open(sys.argv[1], scope="global") as memory:
    while True:
        memory.recall("statement writer edited", lexical_only=True)
        print(memory.count(), flush=True)
"""


def start(code, *argv):
    return subprocess.Popen(
        [sys.executable, "-c", code, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(process):
    """What a process that was killed had still said. Not `communicate`: that forgets what `readline` read ahead."""
    with process:
        return process.stdout.read(), process.stderr.read()


def test_no_acknowledged_write_is_lost_to_kill_9(path):
    random.seed(7)
    limpet.open(path, scope="global").close()
    acknowledged, errors = set(), []
    reader = start(READER, str(path))
    writers = {name: start(WRITER, str(path), str(name)) for name in range(WRITERS)}
    serial = WRITERS
    for _ in range(KILLS):
        name = random.choice(list(writers))
        victim = writers.pop(name)
        acknowledged.add(victim.stdout.readline().strip())  # it writes, however slow the machine
        time.sleep(random.uniform(0.3, 0.9))
        victim.kill()
        out, err = ended(victim)
        acknowledged |= set(out.split("\n")[:-1])
        errors.append(err)
        writers[serial] = start(WRITER, str(path), str(serial))
        serial += 1
    for process in [*writers.values(), reader]:
        process.kill()
        out, err = ended(process)
        errors.append(err)
        if process is not reader:
            acknowledged |= set(out.split("\n")[:-1])

    assert not any(errors), errors
    assert len(acknowledged) >= KILLS
    with limpet.open(path, scope="global") as memory:
        there = {event.memory for event in memory._context.store.ledger.events()}
        assert {bytes.fromhex(id.replace("-", "")) for id in acknowledged if len(id) == 36} <= there
        assert memory.verify() == []
        assert memory.count() == len(there)


def test_a_killed_worker_gives_its_jobs_back(path, clock):
    """A lease runs out; nothing waits for ever for a process that died with it."""
    with limpet.open(path, scope="global", clock=clock) as memory:
        memory.remember("a text that someone began to embed")
        now = clock.now()
        assert memory._context.store.jobs.lease("embed", limit=10, at=now, until=now + 60_000_000, worker="dead")
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
    running = [start(code, str(path), str(n)) for n in range(3)]
    assert [process.communicate()[1] for process in running] == ["", "", ""]
    with limpet.open(path, scope="global") as memory:
        current = [one for one in memory.list(limit=100).memories if one.key == "api.limit"]
        assert len(current) == 1
        assert json.dumps(memory.stats().by_state) == '{"active": 1, "superseded": 44}'
