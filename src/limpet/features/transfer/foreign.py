"""SQLite files of other programs, for imports: only read, and not trusted.

Only plain columns of ordinary tables are read. A row with a cell that is too large or not UTF-8 goes into the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from ...model.errors import BadInput
from .records import TransferReport

MAGIC = b"SQLite format 3\0"
# The largest cell that is read: twice the largest text of a memory, for its JSON.
MAX_CELL_BYTES = 2_000_000
# Above this SQLite checks the pages of a file, but not that indexes agree with their tables, which takes far longer.
MAX_FULL_CHECK_BYTES = 64 << 20
# SQLite's default limit of findings; a broken file has one for every page.
MAX_FINDINGS = 100
# The most names of a schema; real ones have some dozens.
MAX_NAMES = 1_000

# (place, cells by name) of each row.
Rows = Iterator[tuple[str, dict[str, Any]]]


def is_sqlite(path: Path) -> bool:
    """Return whether the file is SQLite's, by its first bytes."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


class ForeignFile:
    """One SQLite file, open for reading. A context manager."""

    def __init__(self, path: Path, report: TransferReport, **needed: str) -> None:
        """Open a file that has these tables and columns; a damaged one is read as far as possible. Raises BadInput."""
        self.path, self._report = path, report
        # Without a log nobody writes: then lock nothing, and make no file beside it.
        wal = path.with_name(path.name + "-wal")
        live = wal.exists() and wal.stat().st_size > 0
        uri = f"file:{quote(str(path.absolute()))}?" + ("mode=ro" if live else "mode=ro&immutable=1")
        try:
            self._con = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
            self._con.set_busy_timeout(2_000)
            self._con.limit(apsw.SQLITE_LIMIT_LENGTH, 64_000_000)
            self._con.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            self._con.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            self._con.execute("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0").fetchall()
            # Ordinary tables with their ordinary columns.
            tables = self._names("sqlite_master WHERE type = 'table' AND rootpage > 0")
            self.tables = {name: self._names("pragma_table_xinfo(?) WHERE hidden = 0", name) for name in tables}
        except apsw.Error as error:
            raise self._unreadable(error) from None
        for table, columns in needed.items():
            if not self.has(table, *columns.split()):
                raise BadInput(f"{path} is no such database: it has no table of {table}")
        damage = self._damage()
        if damage is not None:
            report.bad(path.name, f"{damage}. What can be read is taken; a repaired copy: sqlite3 FILE .recover")

    def __enter__(self) -> ForeignFile:
        return self

    def __exit__(self, *raised: object) -> None:
        self._con.close()

    def _names(self, statement: str, *bound: str) -> tuple[str, ...]:
        """Return names as the file has them: bytes, which need not be UTF-8."""
        rows = self._con.execute(f"SELECT CAST(name AS BLOB) FROM {statement} LIMIT ?", (*bound, MAX_NAMES))
        return tuple(bytes(raw).decode("utf-8", "replace") for (raw,) in rows)

    def _damage(self) -> str | None:
        """Return the findings of SQLite's check of the file; None if there are none. It does not find changed
        characters in a text."""
        check = "integrity_check" if self.path.stat().st_size <= MAX_FULL_CHECK_BYTES else "quick_check"
        findings: list[str] = []
        try:
            # As bytes: a finding quotes names that need not be UTF-8. Without an argument: it would name a table.
            for (raw,) in self._con.execute(f"SELECT CAST({check} AS BLOB) FROM pragma_{check}"):
                # A heading, "*** in database main ***", is no finding.
                lines = bytes(raw).decode("utf-8", "replace").splitlines()
                findings += [line for line in lines if not line.startswith("***")]
        except (apsw.CorruptError, apsw.NotADBError, apsw.IOError) as error:
            findings.append(str(error))
        except apsw.Error:
            return None  # its schema asks for a function or a module that is not here: nothing is known
        if findings in ([], ["ok"]):
            return None
        more = f", and {len(findings) - 1}{' or more' if len(findings) >= MAX_FINDINGS else ''} other findings"
        return f"the file is damaged: {findings[0][:200]}{more if len(findings) > 1 else ''}"

    def has(self, table: str, *columns: str) -> bool:
        return table in self.tables and set(columns) <= set(self.tables[table])

    def rows(
        self, table: str, columns: str, *, named: str = "row", where: tuple[str, str] | None = None
    ) -> Rows:  # fmt: skip
        """Yield every row, or those with a value in a column (`where`); a missing column is None. A row that cannot be
        read goes into the report, as `named`. Raises BadInput."""
        names, there = columns.split(), self.tables[table]
        chosen = []
        for name in names:
            # A value, text as a blob, and its size. A large value is never read from its pages.
            column = _quoted(name)
            value = f"CASE WHEN typeof({column}) = 'text' THEN CAST({column} AS BLOB) ELSE {column} END"
            bounded = f"CASE WHEN octet_length({column}) <= {MAX_CELL_BYTES} THEN {value} END, octet_length({column})"
            chosen.append(bounded if name in there else "NULL, NULL")
        chosen_rows = _quoted(table) + (f" WHERE {_quoted(where[0])} = ?" if where else "")
        bound = where[1:] if where else ()
        try:
            total = int(self._con.execute(f"SELECT count(*) FROM {chosen_rows}", bound).get)
            statement = f"SELECT {', '.join(chosen)} FROM {chosen_rows}"
            for number, row in enumerate(self._con.cursor().execute(statement, bound), 1):
                if number % 500 == 0 or number == total:
                    self._report.at(number, total)
                try:
                    values = {name: _value(name, *row[2 * at : 2 * at + 2]) for at, name in enumerate(names)}
                except BadInput as error:
                    self._report.bad(f"{named} {number}", error.message)
                else:
                    yield f"{named} {number}", values
        except apsw.Error as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: apsw.Error) -> BadInput:
        return BadInput(f"{self.path} cannot be read: {error}", hint="it was left untouched")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _value(name: str, value: Any, size: int | None) -> Any:
    """Return a cell, its text decoded. Raises BadInput."""
    if size is not None and size > MAX_CELL_BYTES:
        raise BadInput(f"{name} is too long: {size:,} bytes")
    try:
        return value.decode("utf-8") if isinstance(value, bytes) else value
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8: {error.reason} at {error.start}") from None
