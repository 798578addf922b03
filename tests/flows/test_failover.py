"""When the server of a store goes: what was acknowledged is there, whoever waits is told why, hooks stay silent."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time

import pytest

import limpet
from tests import failover, postgres_server

pytestmark = [
    pytest.mark.xdist_group("postgres"),
    pytest.mark.skipif(postgres_server.missing() is not None, reason=str(postgres_server.missing())),
]
LONG = pytest.mark.skipif(not os.environ.get("LIMPET_TEST_POSTGRES"), reason="make test-postgres")


@pytest.fixture
def mute():
    """The URL of what takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"postgresql://ana@127.0.0.1:{listener.getsockname()[1]}/limpet"


@pytest.fixture
def frozen(tmp_path):
    """The URL of a store of which all processes of the server can be stopped, and how."""
    with failover.between(postgres_server.server()) as link:
        yield f"postgresql://limpet@127.0.0.1:{link.port}/limpet?tenant={tmp_path.name}", link


def test_a_hook_is_silent_in_its_time_when_the_server_says_nothing(mute, tmp_path):
    asked = json.dumps({"session_id": "s1", "prompt": "When do we deploy the api?"})
    environment = os.environ | {"LIMPET_HOOK_SECONDS": "1", "XDG_DATA_HOME": str(tmp_path), "LIMPET_STORE": mute}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "limpet", "hook", "claude", "UserPromptSubmit"], input=asked, env=environment,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "gave up after 1 s" in next((tmp_path / "limpet").glob("*.hooks.log")).read_text()
    assert time.monotonic() - began < 30, "it ended by itself"


@LONG
def test_who_connects_is_told_what_is_wrong(mute):
    with pytest.raises(limpet.StoreError, match=r"127\.0\.0\.1.*it does not answer"):
        limpet.open(f"{mute}?connect_timeout=2", scope="project:api")
    with pytest.raises(limpet.StoreError, match="for 1 seconds: it refuses connections"):
        limpet.open("postgresql://127.0.0.1:1/limpet?wait=1", scope="project:api")
    with pytest.raises(limpet.BadInput, match="wait is a number"):
        limpet.open("postgresql://127.0.0.1:1/limpet?wait=long", scope="project:api")


@LONG
def test_a_server_that_falls_silent_is_an_error_when_the_deadline_is_over(frozen):
    url, link = frozen
    with limpet.open(url, scope="project:api") as memory:
        memory.remember("We deploy on Tuesdays")
        assert memory.recall("When do we deploy?", deadline_ms=500, lexical_only=True).items
        link.silent = True
        with pytest.raises(limpet.StoreError, match="has not answered"):
            memory.recall("When do we deploy?", deadline_ms=100, lexical_only=True)
        link.silent = False
        assert memory.recall("When do we deploy?", deadline_ms=500, lexical_only=True).items


def test_a_connection_that_was_cut_is_made_again(frozen):
    url, link = frozen
    with limpet.open(url, scope="project:api") as memory:
        memory.remember("We deploy on Tuesdays")
        link.cut()
        memory.remember("The office is in Berlin")
        link.cut()
        assert len(memory.list()) == 2


@LONG
def test_no_acknowledged_write_is_lost_when_the_primary_is_killed_under_load(monkeypatch):
    monkeypatch.delenv("LIMPET_DURABILITY")  # the suite's own waits for no standby
    with failover.Pair() as pair:
        for _ in range(2):
            outcome = failover.fail_over(pair, writers=8)
            assert outcome.acknowledged >= 2 * 8 * 20
            assert outcome.lost == 0
            assert outcome.unknown_to_reader == 0
            pair.renew()


@LONG
def test_a_replica_is_read_and_not_written():
    with failover.Pair() as pair:
        with limpet.open(pair.url, scope="project:api") as memory:
            id = memory.remember("We deploy on Tuesdays").id
        # The standby has the write, and applies it when it comes to it.
        with failover.soon(lambda: _opened(f"{pair.url}&replica=yes")) as reader:
            assert reader.read_only
            assert failover.soon(lambda: [item.id for item in reader.recall("When do we deploy?").items]) == [id]
            assert reader.get(id).content == "We deploy on Tuesdays"
            assert reader.prepare("When do we deploy?").text
            with pytest.raises(limpet.StoreReadOnly, match="read-only"):
                reader.remember("one more")
        with limpet.open(pair.standby_url, scope="project:api") as other, pytest.raises(limpet.StoreReadOnly):
            other.remember("one more")


def _opened(url):
    try:
        return limpet.open(url, scope="project:api")
    except limpet.StoreMissing:
        return None


@LONG
def test_a_process_that_read_writes_which_a_failover_lost_answers_as_a_new_one():
    """Without a synchronous standby. Numbers of events, texts and chunks are given a second time, to others."""
    with failover.Pair(synchronous=False) as pair, limpet.open(pair.url, scope="project:api") as memory:
        for number in range(30):
            memory.remember(f"Machine {number} stands in hall {number % 7}")
        memory.work()
        pair.part()
        for number in range(5):
            memory.remember(f"Nobody will know of the lamp number {number}")
        memory.work()
        for _ in range(3):
            assert memory.recall("the lamp number 3").items
        pair.kill_and_promote()
        for number in range(5):
            memory.remember(f"The boat number {number} is in the harbour")
        memory.work()
        with limpet.open(pair.url, scope="project:api") as fresh:
            for query in ("the lamp number 3", "the boat number 2 in the harbour", "hall 3"):
                for _ in range(3):
                    found = [(item.id, item.score) for item in memory.recall(query).items]
                    assert found == [(item.id, item.score) for item in fresh.recall(query).items]
        assert memory.verify() == []
