"""What stands between limpet and a server: a pooler that lends each transaction another connection; and what
threads and processes write while others read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading

import pytest

import limpet
from tests import failover, postgres_server

POOLER = shutil.which("pgbouncer", path=os.environ["PATH"] + ":/usr/sbin")
pytestmark = [
    pytest.mark.xdist_group("postgres"),
    pytest.mark.skipif(postgres_server.missing() is not None, reason=str(postgres_server.missing())),
    pytest.mark.skipif(not os.environ.get("LIMPET_TEST_POSTGRES"), reason="make test-postgres"),
]


@pytest.fixture
def pooled(tmp_path_factory):
    """A PgBouncer in transaction mode, with two connections for all; its URL."""
    if POOLER is None:
        pytest.skip("pgbouncer is not installed")
    server = re.search(r"host=([^&]+)", postgres_server.database())[1]
    folder = postgres_server.Server().folder
    (folder / "users").write_text('"limpet" ""\n')
    (folder / "ini").write_text(
        f"[databases]\nlimpet = host={server} dbname=limpet\n[pgbouncer]\nlisten_port = 5432\nunix_socket_dir = {folder}\n"
        f"auth_type = trust\nauth_file = {folder}/users\npool_mode = transaction\ndefault_pool_size = 2\n"
        "server_reset_query_always = 0\n"
    )
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [POOLER, "ini"], cwd=folder, stdout=log, stderr=log, **postgres_server.as_nobody()
        )  # fmt: skip
    failover.soon((folder / ".s.PGSQL.5432").exists)
    yield f"postgresql://limpet@/limpet?host={folder}"
    process.terminate()
    process.wait(10)


def test_a_pooler_in_transaction_mode_stands_between(pooled, tmp_path, clock):
    def use(name):
        with limpet.open(f"{pooled}&tenant={tmp_path.name}-{name}", scope="project:api") as memory:
            first = memory.remember(f"{name} deploys on Tuesdays", key="deploys.day").id
            for number in range(20):
                memory.remember(f"{name} has machine {number}")
            memory.work()
            last = memory.remember(f"{name} deploys on Fridays", key="deploys.day").id
            for _ in range(3):
                assert memory.recall("When are deploys?", deadline_ms=5_000).items[0].id in (first, last)
            database = memory._context.store.database
            assert database.rows("SELECT name FROM pg_prepared_statements") == [], "they would be another one's"
            assert memory.purge(first, confirm=True).purged
            assert memory.verify() == []
            assert len(memory.list(limit=100).memories) == 21
            assert name in memory.list().memories[0].content
            done.append(name)

    done: list[str] = []
    threads = [threading.Thread(target=use, args=(name,)) for name in ("ana", "ben", "cleo", "dora", "emil")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == ["ana", "ben", "cleo", "dora", "emil"], "none saw rows of another tenant, or an error"


def test_recalls_of_several_threads_find_what_was_written_meanwhile(tmp_path):
    """Arrays of a process follow the store while others write and a thread reads ahead."""
    url, failed = postgres_server.url_of(tmp_path.name), []
    with limpet.open(url, scope="project:api") as memory, limpet.open(url, scope="project:api") as other:

        def use(number):
            for round in range(15):
                said = f"Box {number * 100 + round} stands in hall {number}"
                other.remember(said)
                found = memory.recall(f"Where does box {number * 100 + round} stand?", lexical_only=True)
                if said not in [item.content for item in found.items]:
                    failed.append(said)

        threads = [threading.Thread(target=use, args=(number,)) for number in range(1, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []
