"""The care of a tenant: checks and compaction. What is the server's is refused by name: `pg_dump` makes backups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psycopg

from ...model.errors import BadInput
from ...store.records import Problem
from ...store.sql.maintenance import Erasure, Maintenance, check_rows
from ...store.sql.verification import ENTRIES, verify_chain
from .connection import Session
from .database import Database
from .index import PostgresIndex

_NOT_HERE = "a store in Postgres is copied by its server's tools, not by limpet"
_HINT = "`pg_dump` and `pg_restore`, or `limpet copy` into a file; see `how-to/postgres.md`"


class PostgresMaintenance(Maintenance):
    _database: Database

    def encryption(self) -> tuple[bool, str]:
        return False, f"psycopg {psycopg.__version__}; what is on the disks is the server's to encrypt"

    def _problems(self) -> list[Problem]:
        with self._database.snapshot(), self._database.reading() as con:
            problems = check_rows(con)
            index = self._database.index
            assert isinstance(index, PostgresIndex)
            if unfit := index.unfit(con):
                message = f"the full-text index does not fit {unfit} texts; `limpet rebuild` mends it"
                problems.append(Problem(check="index", message=message))
            wrong = con.execute(
                "SELECT count(*) FROM chunk c WHERE c.used <> (SELECT count(*) FROM slot s WHERE s.chunk = c.num)"
            ).get
            if wrong:
                problems.append(Problem(check="vectors", message=f"{wrong} chunks do not have the codes that they say"))
            return problems + verify_chain(con, read=lambda: con.stream(f"{ENTRIES} ORDER BY o.place"))

    def backup(self, path: str, progress: Callable[[int, int], None] | None = None) -> None:  # noqa: ARG002
        raise BadInput(_NOT_HERE, hint=_HINT)

    def compact(self) -> dict[str, Any]:
        before = self.stats().file_bytes
        self._database.flush_erased(seconds=0)
        return {"before_bytes": before, "after_bytes": self.stats().file_bytes}

    def _bytes(self, con: Session) -> tuple[int, int]:
        """Return the bytes of the tables of all tenants, whose pages are shared, and 0 free bytes."""
        held = con.execute(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
            " WHERE relnamespace = CAST('limpet_rows' AS regnamespace) AND relkind = 'r'"
        ).get
        return int(held), 0


class PostgresErasure(Erasure):
    beyond = (
        "the rows are gone, their space was vacuumed; the server's write-ahead log, its standbys and its backups keep"
        " what they have until they are recycled or deleted"
    )

    def scour(self, pieces: Sequence[bytes]) -> bool:  # noqa: ARG002
        return False

    def own_files(self) -> list[Path]:
        return []

    def replaced_stores(self) -> list[Path]:
        return []
