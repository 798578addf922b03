"""The write-ahead log is folded into the file, and does not grow without end."""

from __future__ import annotations

from pathlib import Path

import limpet
from limpet.store.sqlite.connection import connect

# Pages of a log that a commit folds into the file, and those that a large commit adds.
MOST_PAGES = 4_000


def test_the_log_begins_anew_under_a_writer_who_never_pauses(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with limpet.open(str(path), scope="global", durable=False) as memory:
        for number in range(12):  # twice the bound, with what all of them are written to beside
            memory.remember_batch(f"Line {number} of batch {each} is held back" for each in range(400))
    with limpet.open(str(path), scope="global", durable=False) as memory:
        largest = 0
        for number in range(300):
            memory.remember(f"Queue {number} waits for queue {number + 1}, which is full since {number} o'clock")
            largest = max(largest, path.with_name("m.db-wal").stat().st_size)
        # A commit may add what it holds to a log that is full.
        assert largest < 2 * MOST_PAGES * 4096
        assert not memory.verify()


def test_a_fold_that_must_stop_halfway_fails_no_write(tmp_path: Path) -> None:
    """As far as another reads an older state: the log holds what was committed."""
    path = str(tmp_path / "m.db")
    with limpet.open(path, scope="global", durable=False) as memory:
        other = connect(path)
        other.execute("BEGIN; SELECT count(*) FROM memory").fetchall()  # what is newer stays in the log
        memory.remember_batch(
            f"Line {number} is held back by a reader" for number in range(900)
        )  # more than a log holds
        memory.remember("Deploys wait for the migration")
        assert other.execute("SELECT count(*) FROM memory").get == 0
        other.close()
    with limpet.open(path, scope="global") as memory:
        assert not memory.verify()
        assert memory.list(limit=1)[0].content == "Deploys wait for the migration"
