"""A process is forked while its threads use a store: parent and child go on, each with connections of its own."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import traceback
import weakref

import pytest

import limpet
from limpet.model import forks
from tests import postgres_server

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]
CHILDREN = 3
NEVER_SECONDS = 30  # far more than a child takes


@pytest.fixture(params=["file", ":memory:", "postgres"])
def place(request, tmp_path):
    if request.param == "file":
        return str(tmp_path / "m.db")
    if request.param == "postgres":
        if why := postgres_server.missing():
            pytest.skip(why)
        return postgres_server.url_of(tmp_path.name)
    return request.param


def in_child(work):
    """Whether a forked child did it."""
    pid = os.fork()
    if pid == 0:
        faulthandler.dump_traceback_later(NEVER_SECONDS, exit=True, file=sys.__stderr__)
        try:
            work()
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.parametrize("busy", ["reads", "writes"])
def test_a_child_uses_the_store_that_other_threads_are_at(place, busy):
    with limpet.open(place, scope="project:api") as memory:
        memory.remember("The staging database listens on port 5433")
        over, failed = threading.Event(), []

        def keep_at_it():
            try:
                for n in iter(int, 1):
                    if over.is_set():
                        return
                    memory.recall("which port?") if busy == "reads" else memory.remember(
                        f"Deploy {n} of {threading.get_ident()}"
                    )
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=keep_at_it) for _ in range(2)]
        for one in threads:
            one.start()

        def work():
            assert memory.remember(f"Said by the child {os.getpid()}", topics=["child"]).status == "created"
            assert memory.recall("staging database port").items[0].content.endswith("5433")

        done = [in_child(work) for _ in range(CHILDREN)]
        over.set()
        for one in threads:
            one.join()

        assert (done, failed) == ([True] * CHILDREN, [])
        assert memory.count(topics=["child"]) == (0 if place == ":memory:" else CHILDREN)


def test_what_a_child_writes_stays_when_its_parent_has_closed_the_store(path):
    """It holds the file's locks itself: nobody takes the log away from under it."""
    memory = limpet.open(path, scope="project:api")
    memory.remember("Said by the parent")
    (read, write), (told, tell) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        memory.remember("Said by the child")
        os.write(tell, b"1")
        os.read(read, 1)
        done = memory.remember("Said by the child, alone").status == "created" and memory.count() == 3
        memory.close()
        os._exit(0 if done else 1)
    os.read(told, 1)
    memory.close()
    os.write(write, b"1")

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    with limpet.open(path, scope="project:api") as memory:
        assert memory.count() == 3
        assert all(check.status != "error" for check in memory.doctor())


def test_a_fork_inside_of_a_write_leaves_the_child_an_error_and_the_parent_its_write(path):
    class Forking(limpet.FixedClock):
        pids = None

        def now(self):
            if self.pids == []:
                self.pids.append(os.fork())
            return super().now()

    clock = Forking("2026-03-01T10:00:00Z")
    memory = limpet.open(path, scope="project:api", clock=clock)

    def decide(writer):
        clock.pids = []
        writer.event(
            "session_started", b"s" * 16, origin="user", scope="project:api", name="s"
        ) if clock.now() else None

    try:
        memory._context.write(decide)
        failed = None
    except limpet.StoreError as error:
        failed = str(error)
    if clock.pids == [0]:
        try:
            memory.count()
        except limpet.StoreError as error:
            os._exit(0 if failed and "in use as this process was forked" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(clock.pids[0], 0)[1]) == 0
    assert failed is None
    assert memory.remember("Said by the parent").status == "created"
    memory.close()


def _remember(number):
    return _SHARED[0].remember(f"Said by process {number}").status


_SHARED = []


def test_a_pool_of_forked_processes_shares_what_was_opened_before(path):
    with limpet.open(path, scope="project:api") as memory:
        memory.remember("Said by the parent")
        memory.recall("parent")
        memory.recall("parent")
        _SHARED[:] = [memory]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(_remember, range(8)) == ["created"] * 8
        assert memory.count() == 9


@pytest.mark.parametrize("uses", [False, True], ids=["idle", "opens"])
def test_a_child_ends_while_other_threads_open_and_close_stores(tmp_path, uses):
    path, over, failed = str(tmp_path / "m.db"), threading.Event(), []
    with limpet.open(path, scope="project:api") as memory:
        memory.remember("The staging database listens on port 5433")
        memory.recall("which port?")

        def open_and_close(of):
            try:
                for n in iter(int, 1):
                    if over.is_set():
                        return
                    with limpet.open(str(tmp_path / f"{of}.db"), scope="project:api") as other:
                        other.remember(f"Deploy {n}")
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=open_and_close, args=(n,)) for n in range(2)]
        for one in threads:
            one.start()

        def work():
            if uses:
                assert memory.count() == 1
                with limpet.open(str(tmp_path / "child.db"), scope="project:api") as fresh:
                    assert fresh.remember(f"Said by the child {os.getpid()}").status == "created"

        done = [in_child(work) for _ in range(12 if uses else 60)]
        over.set()
        for one in threads:
            one.join()

        assert (set(done), failed) == ({True}, [])


def test_a_child_that_uses_no_store_closes_none(path):
    """Not in the fork either: what SQLite shares among connections may be held by a thread that the child has not."""
    with limpet.open(path, scope="project:api") as memory:
        memory.remember("Said by the parent")
        inherited = memory._context.store.database._writer

        def work():
            assert memory._context.store.database._writer is None
            inherited.db_filename("main")  # raises if it is closed
            assert memory.count() == 1
            with pytest.raises(Exception, match="closed"):
                inherited.db_filename("main")

        assert in_child(work)


def test_a_child_forked_while_a_store_is_opened_is_refused(path, monkeypatch):
    monkeypatch.setattr(forks, "FORK_WAIT_SECONDS", 0.0)
    inside, over = threading.Event(), threading.Event()

    def stay():
        with forks.OPENING:
            inside.set()
            over.wait()

    with limpet.open(path, scope="project:api") as memory:
        memory.remember("Said by the parent")
        thread = threading.Thread(target=stay)
        thread.start()
        inside.wait()

        def work():
            for use in (memory.count, lambda: limpet.open(path, scope="project:api")):
                with pytest.raises(limpet.StoreError, match="as this process was forked"):
                    use()

        done = in_child(work)
        over.set()
        thread.join()
        assert done
        assert memory.count() == 1
        assert in_child(memory.count)  # of a later fork it is free


def test_a_fork_waits_for_no_program_that_a_module_runs(tmp_path):
    """`python -c "import app"` holds the lock of `app` as long as it runs; those of ours are let go soon."""
    (tmp_path / "app.py").write_text(
        textwrap.dedent("""
        import sys, threading
        from limpet.model import forks
        seen = []
        thread = threading.Thread(target=lambda: seen.append(forks._others_import()))
        thread.start(); thread.join()
        print(seen)
        """)
    )
    (tmp_path / "numpy.py").write_text((tmp_path / "app.py").read_text())
    run = [
        subprocess.run(
            [sys.executable, "-c", f"import {name}"], check=True, cwd=tmp_path, capture_output=True, text=True
        ).stdout
        for name in ("app", "numpy")
    ]
    assert run == ["[False]\n", "[True]\n"]


def test_stores_are_listed_while_threads_add_some():
    class One:
        pass

    kept, added, over = [One() for _ in range(2_000)], [], threading.Event()
    ones = weakref.WeakSet(kept)

    def add():
        while not over.is_set():
            added.append(One())
            ones.add(added[-1])
            if len(added) == 5_000:
                added.clear()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=add)
    thread.start()
    try:
        assert all(set(kept) <= set(forks._all_of(ones)) for _ in range(50))
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(interval)
