"""The write-ahead log is folded into the file beside the commits, and does not grow without end."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import limpet
from limpet.store.sqlite import database
from limpet.store.sqlite.connection import connect


def _committed(path: str) -> int:
    """Memories in the file alone, as it is where the log is lost."""
    alone = Path(path + ".alone")
    alone.write_bytes(Path(path).read_bytes())
    con = apsw.Connection(
        alone.absolute().as_uri() + "?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    try:
        return int(con.execute("SELECT count(*) FROM memory").get)
    except apsw.SQLError:  # no such table: nothing was folded yet
        return 0
    finally:
        con.close()
        alone.unlink()


def test_a_thread_folds_the_log_while_the_store_is_open(tmp_path: Path) -> None:
    path = str(tmp_path / "m.db")
    with limpet.open(path, scope="global", durable=False) as memory:
        inside = memory._context.store.database
        written = 0
        while inside._folding is None:
            memory.remember(f"The limiter of service {written} waits {7 * written} seconds")
            written += 1
        inside._folding.join()
        assert _committed(path) == written


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
        assert largest < 2 * database.FOLD_AT_ONCE_PAGES * 4096
        assert not memory.verify()


def test_a_fold_that_must_stop_halfway_fails_no_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as another reads an older state: the log holds what was committed."""
    path = str(tmp_path / "m.db")
    monkeypatch.setattr(database, "FOLD_AT_ONCE_PAGES", 1)
    with limpet.open(path, scope="global", durable=False) as memory:
        other = connect(path)
        other.execute("BEGIN; SELECT count(*) FROM memory").fetchall()  # what is newer stays in the log
        memory.remember("Deploys wait for the migration")
        assert other.execute("SELECT count(*) FROM memory").get == 0
        other.close()
    with limpet.open(path, scope="global") as memory:
        assert not memory.verify()
        assert [one.content for one in memory.list()] == ["Deploys wait for the migration"]
