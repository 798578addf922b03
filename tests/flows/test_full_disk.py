"""A disk that is full: said in words, exit code 3, nothing that was acknowledged is lost, and it goes on afterwards.

Three ways to a full disk: a limit on the size of files (needs nothing), SQLite's own limit on pages (SQLITE_FULL), and
a small tmpfs in a mount namespace (a real ENOSPC; skipped where the system grants no namespace).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

import limpet

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and namespaces of Linux")

# Each makes the disk "full" at argv[1], takes the argument away, and is followed by the code that runs there.
FILE_SIZE = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
most = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
"""
PAGES = """
import sys, apsw
pages = int(sys.argv.pop(1)) // 4096
apsw.connection_hooks.append(lambda connection: connection.execute(f"PRAGMA max_page_count={pages}").fetchall())
"""
ROOMY = "import sys; sys.argv.pop(1)\n"

FILL = """
import limpet
clock = limpet.FixedClock("2026-03-01T12:00:00Z")
with limpet.open(sys.argv[1], scope="global", clock=clock) as memory:
    for i in range(100_000):
        try:
            print(memory.remember(f"statement {i} " + "padding " * 300, session="s").id, flush=True)
        except limpet.LimpetError as error:
            print(type(error).__name__, error.exit_code, error.message, error.hint, file=sys.stderr)
            assert memory.count() == i, "what was refused is not there"
            assert memory.recall("statement", lexical_only=True, k=3).items or not i
            break
"""
CLI = "from limpet.cli.main import main; sys.exit(main(sys.argv[1:]))"
# The log grows with every commit, the file only with what is in it.
BYTES = {FILE_SIZE: 2_000_000, PAGES: 600_000}
WORDS = {
    FILE_SIZE: "cannot read or write",
    PAGES: "is full; nothing was stored",
    "tmpfs": "is full; nothing was stored",
}


def plain():
    """The environment without settings of limpet's, and without the measuring of coverage, which writes files too."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("LIMPET_", "COVERAGE_"))}


def python(limit, code, *argv, bytes=None, stdin=None):
    return subprocess.run(
        [sys.executable, "-c", limit + code, str(bytes or BYTES[limit]), *map(str, argv)],
        capture_output=True, text=True, timeout=120, check=False, env=plain(), input=stdin,
    )  # fmt: skip


def acknowledged_are_there(path, out):
    """Every id that was printed is in the store, which is sound and takes writes again."""
    ids = out.split()
    with limpet.open(path, scope="global") as memory:
        assert memory.verify() == []
        assert memory.count() == len(ids)
        assert [one.id for one in reversed(memory.list(limit=10_000).memories)] == ids
        assert memory.remember("there is room again").status == "created"
        assert memory.recall("room again", lexical_only=True).items[0].content == "there is room again"
    assert sound(path)


def sound(path):
    with limpet.open(path, scope="global", read_only=True) as memory:
        return memory.verify() == []


@pytest.mark.parametrize("limit", [FILE_SIZE, PAGES], ids=["file size", "pages"])
def test_a_full_disk_loses_nothing_that_was_acknowledged(path, limit):
    done = python(limit, FILL, path)

    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) > 20
    name, code, message = done.stderr.split(" ", 2)
    assert (name, code) == ("StoreError", "3")
    assert WORDS[limit] in message and str(path) in message
    acknowledged_are_there(path, done.stdout)


@pytest.mark.parametrize("limit", [FILE_SIZE, PAGES], ids=["file size", "pages"])
@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_line_says_that_the_disk_is_full(path, limit, as_json):
    filled = python(limit, FILL, path)
    argv = ["--store", path, "--scope", "global", "remember", "-", *(["--json"] if as_json else [])]

    size = path.stat().st_size
    done = python(limit, CLI, *argv, stdin="more words " * 80_000, bytes=size + 40_960)

    assert done.returncode == 3
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    if as_json:
        shown = json.loads(done.stderr)
        assert shown["error"] == "store_error"
        assert WORDS[limit] in shown["message"] and shown["hint"]
    else:
        assert WORDS[limit] in done.stderr
        assert len(done.stderr.splitlines()) <= 3
    found = python(limit, CLI, "--store", path, "--scope", "global", "list", "--count", "--json")
    assert json.loads(found.stdout) == {"count": len(filled.stdout.split())}, "a full disk can be read"
    acknowledged_are_there(path, filled.stdout)


@pytest.mark.parametrize("limit", [FILE_SIZE, PAGES], ids=["file size", "pages"])
def test_a_batch_that_does_not_fit_is_refused_as_a_whole(path, tmp_path, limit):
    """Each thousand is one transaction: the first may be there, half of one never."""
    items = tmp_path / "items.jsonl"
    items.write_text("".join(json.dumps({"content": f"item {i} " + f"word{i} " * 40}) + "\n" for i in range(2_000)))

    done = python(limit, CLI, "--store", path, "--scope", "global", "import", "jsonl", items, bytes=1_000_000)

    assert done.returncode == 3, done.stderr
    assert WORDS[limit] in done.stderr
    assert sound(path)
    with limpet.open(path, scope="global") as memory:
        assert memory.count() in (0, 1_000)
        assert memory.import_from("jsonl", items).rejected == []
        assert memory.count() == 2_000
    assert sound(path)


@pytest.mark.parametrize("limit", [FILE_SIZE, PAGES], ids=["file size", "pages"])
def test_a_store_that_could_not_be_made_can_be_made_later(path, limit):
    done = python(limit, CLI, "--store", path, "--scope", "global", "remember", "first", bytes=20_480)

    assert done.returncode == 3
    assert "Traceback" not in done.stderr and done.stderr.strip()
    with limpet.open(path, scope="global") as memory:
        assert memory.count() == 0
        assert memory.remember("first").status == "created"
    assert sound(path)


@pytest.mark.parametrize("limit", [FILE_SIZE, PAGES], ids=["file size", "pages"])
def test_vectors_that_find_no_room_wait(path, limit):
    """A chunk of vectors is the largest thing a store writes: the jobs stay, and are done when there is room."""
    with limpet.open(path, scope="global") as memory:
        stored = [memory.remember(text).id for text in ("the cat sleeps", "bread rests overnight")]
    size = path.stat().st_size

    done = python(limit, CLI, "--store", path, "--scope", "global", "work", bytes=size + 40_960)

    assert done.returncode == 3, done.stderr
    assert WORDS[limit] in done.stderr
    with limpet.open(path, scope="global", clock=limpet.FixedClock("2099-01-01")) as memory:
        assert (memory.stats().vectors, memory.stats().waiting_jobs, memory.stats().dead_jobs) == (0, 2, 0)
        assert memory.work().done == 2
        assert memory.recall("feline", k=1, without=["lexical"]).items[0].id == stored[0]
    assert sound(path)


# -- a real file system that is full


def small_disk(tmp_path, kilobytes, script, *argv):
    """Run a shell script in a mount namespace of its own, in a tmpfs of that size, which is gone with it."""
    place = tmp_path / "disk"
    place.mkdir(exist_ok=True)
    before = f"mount -t tmpfs -o size={kilobytes}k tmpfs '{place}' && cd '{place}' || exit 77\n"
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", before + script, "sh", sys.executable, *map(str, argv)],
        capture_output=True, text=True, timeout=120, check=False, env=plain(),
    )  # fmt: skip


@pytest.fixture
def disk(tmp_path):
    if shutil.which("unshare") is None or small_disk(tmp_path, 64, "true").returncode != 0:
        pytest.skip("no mount namespace to be had here")

    def run(script, *argv, kilobytes=3_000):
        return small_disk(tmp_path, kilobytes, script, *argv)

    return run


def test_a_small_disk_that_fills_up_loses_nothing(disk, tmp_path):
    """Filled by another's file, so that there is room again when that is deleted."""
    script = """
        head -c 1500000 /dev/zero > ballast
        "$1" -c "$2" x memory.db > acknowledged
        "$1" -c "$3" x --store memory.db --scope global remember "$(head -c 100000 /dev/zero | tr '\\0' 'x')"; echo "code $?"
        "$1" -c "$3" x --store memory.db --scope global count
        "$1" -c "$3" x --store memory.db --scope global export jsonl whole.jsonl; echo "code $?"
        "$1" -c "$3" x --store memory.db --scope global backup copy.db; echo "code $?"
        ls
        rm ballast
        "$1" -c "$3" x --store memory.db --scope global verify >&2 || echo unsound
        "$1" -c "$3" x --store memory.db --scope global remember "there is room again" >&2 || echo no room
        "$1" -c "$4" acknowledged memory.db
        """
    compare = (
        "import limpet, sys\n"
        "said = open(sys.argv[1]).read().split()\n"
        "with limpet.open(sys.argv[2], scope='global') as memory:\n"
        "    there = [one.id for one in memory.list(limit=10_000).memories][::-1]\n"
        "assert len(said) > 5 and there[:-1] == said, (said, there)\n"
        "print('all there')\n"
    )
    done = disk(script, ROOMY + FILL, ROOMY + CLI, compare)

    out = done.stdout.split("\n")
    assert out.count("code 3") == 3, (done.stdout, done.stderr)
    assert "all there" in out and "unsound" not in out and "no room" not in out, (done.stdout, done.stderr)
    assert "StoreError 3 the disk that holds memory.db is full; nothing was stored" in done.stderr
    assert "Traceback" not in done.stderr
    assert not {"whole.jsonl", "copy.db", "copy.db.partial"} & set(out), "half a copy is none"


def test_a_disk_that_is_mounted_read_only_is_said_and_what_to_do(disk, tmp_path):
    script = """
        py=$1
        store() { "$py" -m limpet --scope global --store "$@"; }
        store memory.db remember "Deploys need the VPN" 2>&1 || exit 77
        # A process that has ended may hold its files a moment longer, and then the disk is busy.
        for try in 1 2 3 4 5 6 7 8 9; do mount -o remount,ro . && break; sleep 0.2; done
        cd /
        for words in "memory.db" "new.db" "folder/new.db"; do store "$2/$words" remember "One more" 2>&1; echo "code $?"; done
        store "$2/memory.db" backup "$3" && store "$3" remember "One more" && store "$3" list --count
    """
    told = disk(script, tmp_path / "disk", tmp_path / "copy.db").stdout

    assert told.count("hint: its disk is mounted read-only; or ") == told.count("code 3") == 3
    assert "`limpet backup NEW` copies it to where you may write, and --store NEW writes there" in told
    assert told.endswith("2\n")


def test_a_write_on_a_store_that_was_opened_to_be_read_says_so(path):
    limpet.open(path, scope="global").close()
    with limpet.open(path, scope="global", read_only=True) as memory, pytest.raises(limpet.StoreReadOnly) as refused:
        memory.remember("Deploys need the VPN")
    assert refused.value.hint == "it was opened to be read: open it without read_only"
