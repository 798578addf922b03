"""Several processes and one store: made at once by many, read while another writes, refused where locks do not hold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import apsw
import pytest

import limpet
from limpet.model.memory import Filter

MAKER = """
import sys, limpet
print("ready", flush=True)
sys.stdin.readline()
with limpet.open(sys.argv[1], scope="global") as memory:
    for i in range(5):
        print(memory.remember(f"process {sys.argv[2]} statement {i}", session=sys.argv[2]).id, flush=True)
"""


def start(code, *argv):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, argv)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_processes_that_make_one_store_at_once_all_write_to_it(tmp_path):
    for attempt in range(3):
        path = tmp_path / f"new{attempt}" / "memory.db"
        makers = [start(MAKER, path, number) for number in range(4)]
        assert [maker.stdout.readline() for maker in makers] == ["ready\n"] * 4
        for maker in makers:
            maker.stdin.write("go\n")
            maker.stdin.flush()
        said = [maker.communicate(timeout=60) for maker in makers]

        assert [err for _, err in said] == [""] * 4
        ids = {id for out, _ in said for id in out.split()}
        with limpet.open(path, scope="global") as memory:
            assert {one.id for one in memory.list(limit=100).memories} == ids
            assert len(ids) == 20
            assert memory.verify() == []


@pytest.mark.parametrize("stays", [False, True], ids=["closes", "stays open"])
def test_a_store_may_be_made_by_another_at_any_step_of_our_opening(tmp_path, stays):
    """Another handle makes it and writes just before the first, second, third ... statement of our opening."""
    step = reached = 0
    while reached >= step:
        step += 1
        path = tmp_path / f"step{step}.db"
        reached = opened_with_another_at(path, step, stays)
    assert step > 3


def opened_with_another_at(path, step, stays):
    """Returns how many statements were run outside of a transaction. Inside of one, the lock keeps others out."""
    seen = 0
    busy = False
    others = []

    def trace(cursor, statement, bindings):
        nonlocal seen, busy
        if busy or cursor.connection.in_transaction:
            return True
        seen += 1
        if seen == step:
            busy = True
            others.append(limpet.open(path, scope="global"))
            others[0].remember("said by the other")
            if not stays:
                others[0].close()
            busy = False
        return True

    def watch(connection):
        if not busy:
            connection.exec_trace = trace

    apsw.connection_hooks.append(watch)
    try:
        memory = limpet.open(path, scope="global")
    finally:
        apsw.connection_hooks.remove(watch)
    with memory:
        steps, seen = seen, 10**9
        memory.remember("said by us")
        expected = {"said by us"} | ({"said by the other"} if steps >= step else set())
        assert {one.content for one in memory.list().memories} == expected
        assert memory.verify() == []
    for other in others:
        other.close()
    return steps


WRITER = """
import sys, limpet
with limpet.open(sys.argv[1], scope="global") as memory:
    for line in sys.stdin:
        verb, _, text = line.rstrip("\\n").partition(" ")
        if verb == "say":
            print(memory.remember(text).id, flush=True)
        elif verb == "edit":
            id, _, words = text.partition(" ")
            print(memory.edit(id, words).status, flush=True)
        elif verb == "purge":
            print(memory.purge(text, confirm=True).purged, flush=True)
        elif verb == "work":
            print(memory.work().done, flush=True)
"""


@pytest.fixture
def writer(path):
    """ask("say text"): what another process does to the store at `path`, done when it answers."""
    process = start(WRITER, path)

    def ask(line):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    yield ask
    _, err = process.communicate(timeout=60)
    assert err == ""


@pytest.mark.parametrize("read_only", [False, True])
def test_a_reader_sees_what_another_process_committed_at_once(path, writer, read_only):
    writer("say the first statement of all")
    with limpet.open(path, scope="global", read_only=read_only) as memory:

        def words(query):
            return [one.content for one in memory.recall(query, lexical_only=True).items]

        assert words("zebra") == []
        for i in range(3):
            assert words(f"zebra{i}") == []
            id = writer(f"say a zebra{i} crosses")
            assert words(f"zebra{i}") == [f"a zebra{i} crosses"]
            assert memory.get(id).content == f"a zebra{i} crosses"
            assert writer(f"edit {id} a lion{i} crosses") == "changed"
            assert words(f"zebra{i}") == []
            assert words(f"lion{i}") == [f"a lion{i} crosses"]
        assert memory.count() == 4
        assert writer(f"purge {id}") == "True"
        assert words("lion2") == []
        assert memory.count() == 3


def test_a_reader_finds_vectors_that_another_process_made_at_once(path, writer):
    writer("say the cat sleeps on the radiator")
    writer("work")
    with limpet.open(path, scope="global", read_only=True) as memory:

        def nearest(query):
            return memory.recall(query, k=1, without=["lexical"]).items[0].content

        assert nearest("feline") == "the cat sleeps on the radiator"
        id = writer("say bread dough rests overnight in the fridge")
        assert writer("work") == "1"
        assert nearest("a recipe for baking") == "bread dough rests overnight in the fridge"
        writer(f"purge {id}")
        assert nearest("a recipe for baking") == "the cat sleeps on the radiator"


def test_the_data_version_changes_with_a_commit_of_another_process(path, writer):
    with limpet.open(path, scope="global") as memory:
        memory.remember("one")
        assert memory._context.store.listings.count(Filter()) == 1
        before = memory._context.store.data_version()
        writer("say two")
        assert memory._context.store.data_version() != before


# -- network file systems, with a mounts table of our own in a namespace of our own

OPEN = """
import sys, limpet
try:
    with limpet.open(sys.argv[1], scope="global") as memory:
        print("opened", memory.remember("text").status)
except limpet.StoreError as error:
    print(error.exit_code, error.message, "|", error.hint)
"""


def with_mounts(tmp_path, table, *argv, **environment):
    """Run in a mount namespace in which /proc/self/mounts says what `table` says."""
    proc = tmp_path / "proc"
    (proc / "self").mkdir(parents=True, exist_ok=True)
    (proc / "self" / "mounts").write_text(table)
    script = f"mount --bind '{proc}' /proc && exec \"$@\" || exit 77"
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", *map(str, argv)],
        capture_output=True, text=True, timeout=60, check=False, env=os.environ | environment,
    )  # fmt: skip


@pytest.fixture
def mounted(tmp_path):
    if shutil.which("unshare") is None or with_mounts(tmp_path, "", "true").returncode != 0:
        pytest.skip("no mount namespace to be had here")

    def run(table, path, **environment):
        return with_mounts(tmp_path, table, sys.executable, "-c", OPEN, path, **environment)

    return run


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "fuse.sshfs"])
def test_a_network_file_system_is_refused_before_anything_is_written(mounted, tmp_path, kind):
    place = tmp_path / "my share"
    place.mkdir()
    table = f"/dev/sda1 / ext4 rw 0 0\nserver:/export {str(place).replace(' ', chr(92) + '040')} {kind} rw 0 0\n"

    refused = mounted(table, place / "memory.db")

    assert refused.returncode == 0, refused.stderr
    assert refused.stdout.startswith(f"3 {place / 'memory.db'} is on a network file system ({kind})")
    assert "limpet backup" in refused.stdout
    assert list(place.iterdir()) == []


def test_a_local_file_system_below_or_beside_a_network_one_is_not_refused(mounted, tmp_path):
    for folder in ("share/local", "share2", "allowed"):
        (tmp_path / folder).mkdir(parents=True)
    table = (
        f"server:/ / nfs4 rw 0 0\n/dev/sda1 {tmp_path} ext4 rw 0 0\nserver:/x {tmp_path}/share nfs4 rw 0 0\n"
        f"/dev/sda2 {tmp_path}/share/local xfs rw 0 0\nserver:/y {tmp_path}/allowed nfs rw 0 0\n"
    )
    assert mounted(table, tmp_path / "share" / "local" / "memory.db").stdout == "opened created\n"
    assert mounted(table, tmp_path / "share2" / "memory.db").stdout == "opened created\n"
    assert mounted(table, tmp_path / "share" / "memory.db").stdout.startswith("3 ")
    allowed = mounted(table, tmp_path / "allowed" / "memory.db", LIMPET_ALLOW_NETWORK_FS="1")
    assert allowed.stdout == "opened created\n", allowed
