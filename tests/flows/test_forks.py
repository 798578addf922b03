"""A process is forked while its threads use a store: parent and child go on, each with connections of its own."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import sys
import threading
import traceback

import pytest

import limpet
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
