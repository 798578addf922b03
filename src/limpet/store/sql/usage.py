"""How often memories were used, and what was said of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .database import Repository
from .statements import statements

_FIELDS = ("id", "uses", "used_at", "useful", "not_useful", "wrong")


class Usage(Repository):
    def record(self, ids: Sequence[bytes], at: int, verdict: str | None = None) -> None:
        flags = {name: int(verdict == name) for name in ("useful", "not_useful", "wrong")}
        used = int(verdict in (None, "useful"))
        with self._database.writing() as con:
            for id in ids:
                con.execute(statements()["use"], {"id": id, "at": at * used, "used": used, **flags})

    def rows(self) -> Iterator[dict[str, Any]]:
        for row in self._database.rows(f"SELECT {', '.join(_FIELDS)} FROM usage ORDER BY id"):
            yield dict(zip(_FIELDS, row, strict=True))

    def restore(self, rows: Iterable[dict[str, Any]]) -> None:
        with self._database.writing() as con:
            for row in rows:
                con.execute(
                    "INSERT INTO usage (id, scope, uses, used_at, useful, not_useful, wrong)"
                    " SELECT m.id, m.scope, :uses, :used_at, :useful, :not_useful, :wrong FROM memory m"
                    " WHERE m.id = :id AND m.retired_at IS NULL ON CONFLICT (id) DO UPDATE SET scope = excluded.scope,"
                    " uses = excluded.uses, used_at = excluded.used_at, useful = excluded.useful,"
                    " not_useful = excluded.not_useful, wrong = excluded.wrong",
                    row,
                )
