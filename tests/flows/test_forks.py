"""A process is forked while it has a store open: the parent goes on, and its child is refused."""

from __future__ import annotations

import faulthandler
import os
import subprocess
import sys
import textwrap
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


REFUSED = "forked from one that had a store open"


@pytest.mark.parametrize("busy", ["reads", "writes"])
def test_a_child_is_refused_the_store_that_its_parent_goes_on_with(place, busy):
    with limpet.open(place, scope="project:api") as memory:
        memory.remember("The staging database listens on port 5433")
        memory.recall("which port?")
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
            uses = (memory.count, lambda: memory.remember("Said by the child"), lambda: memory.recall("which port?"))
            for use in (*uses, lambda: limpet.open(place, scope="project:api")):
                with pytest.raises(limpet.StoreError, match=REFUSED):
                    use()
            memory.close()

        done = [in_child(work) for _ in range(CHILDREN)]
        over.set()
        for one in threads:
            one.join()

        assert (done, failed) == ([True] * CHILDREN, [])
        assert memory.recall("staging database port").items[0].content.endswith("5433")
        assert memory.verify() == []


def test_a_fork_inside_of_a_write_leaves_the_parent_its_write(path):
    with limpet.open(path, scope="project:api") as memory:
        children = []

        def refused():
            with pytest.raises(limpet.StoreError, match=REFUSED):
                memory.count()

        def decide(writer):
            children.append(in_child(refused))
            writer.event("session_started", b"s" * 16, origin="user", scope="project:api", name="s")

        memory._context.write(decide)
        assert children == [True]
        assert memory.remember("Said by the parent").status == "created"
        assert [one.type for one in memory._context.store.ledger.events()] == ["session_started", "remembered"]


def test_a_child_opens_a_store_that_its_parent_has_closed(path):
    code = textwrap.dedent("""
        import os, sys, limpet
        for text in ("Said by the parent", "Said by the child"):
            with limpet.open(sys.argv[1], scope="project:api") as memory:
                memory.remember(text)
            del memory
            if text == "Said by the parent" and (pid := os.fork()):
                sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """)
    subprocess.run([sys.executable, "-c", code, path], check=True)
    with limpet.open(path, scope="project:api") as memory:
        assert memory.count() == 2


def test_a_child_that_ends_like_a_program_closes_none(path):
    """As the interpreter ends, nothing of the parent's is closed."""
    with limpet.open(path, scope="project:api") as memory:
        memory.remember("Said by the parent")
        memory.recall("parent")
        code = textwrap.dedent("""
            import os, sys, limpet
            memory = limpet.open(sys.argv[1], scope="project:api")
            memory.remember("Said by the other parent")
            pid = os.fork()
            if pid == 0:
                sys.exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            print(memory.count())
        """)
        ran = subprocess.run([sys.executable, "-c", code, path], check=True, capture_output=True, text=True)
        assert ran.stdout == "2\n"
        assert memory.count() == 2 and memory.verify() == []
