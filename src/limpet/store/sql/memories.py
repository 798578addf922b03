"""Memories by id, key and statement."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...model.errors import AmbiguousId, NotFound
from ...model.ids import format_id, named_by, short_id
from ...model.memory import Memory
from . import rows
from .database import Repository
from .filters import caseless_match
from .statements import statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Memories(Repository):
    def resolve(self, text: str, scopes: Sequence[str] | None = None) -> bytes:
        """The one memory of some scopes (None: all) that an id, a short id or the beginning of an id names.

        A short id comes first (`model.ids.named_by`). Raises NotFound, AmbiguousId, BadInput.
        """

        def ask(how: str, low: bytes, high: bytes) -> list[bytes]:
            rows = self._rows(f"ids_from_{how}", low=low, high=high, scopes=scope_list(scopes))
            return [row[0] for row in rows]

        found = named_by(text, ask)
        if len(found) > 1:
            raise self._ambiguous(text, found)
        return the_only(text, found, "memory", scopes)

    def _ambiguous(self, text: str, found: Sequence[bytes]) -> AmbiguousId:
        said = {id: one.content for id in found if (one := self.get(id))}
        names = dict(zip(said, self.abbreviate(list(said)), strict=True))
        return AmbiguousId(text, [format_id(id) for id in found], texts=[(names[id], said[id]) for id in said])

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        """For each id its short id, as long as it takes to be no other memory's in this store."""
        if not ids:
            return []
        found = self._rows("ids_around", ids=self._database.ids(ids))
        return [short_id(id, [one for one in near if one]) for id, *near in found]

    def get(self, id: bytes, *, known_at: int | None = None) -> Memory | None:
        """A memory as the store knows it (or knew it at `known_at`), whatever its state."""
        if known_at is None:
            found = self._memories("memory_current", id=id)
        else:
            found = self._memories("memory_known_at", id=id, known_at=known_at)
        return found[0] if found else None

    def versions(self, id: bytes) -> list[Memory]:
        """Every version of a memory, oldest first."""
        return self._memories("memory_versions", id=id)

    def by_rows(self, nums: Sequence[int]) -> list[Memory]:
        """Whole memories by row, in the order given."""
        return self.with_warnings(nums, [])[0]

    def with_warnings(
        self, nums: Sequence[int], ids: Sequence[bytes]
    ) -> tuple[list[Memory], list[tuple[str, bytes, bytes]]]:
        """`by_rows`, and what `edges.warnings` says of some ids: a server is asked once for both."""
        asked: list[tuple[str, dict[str, Any]]] = []
        if nums:
            asked.append(("memories_by_num", {"nums": self._database.numbers(nums)}))
        if ids:
            asked.append(("warnings", {"ids": self._database.ids(ids)}))
        with self._database.reading() as con:
            cursors = {name: con.execute(statements()[name], bound) for name, bound in asked}
            given = {name: cursor.fetchall() for name, cursor in cursors.items()}
        memories, warned = given.get("memories_by_num", []), given.get("warnings", [])
        found = {row[0]: rows.memory(row) for row in memories}
        return [found[num] for num in nums], rows.warnings(warned)

    def same_statement(self, scope: str, fingerprint: int, at: int) -> Memory | None:
        """An active memory with this fingerprint that is held true at `at`."""
        found = self._rows("same_statement", fingerprint=fingerprint, at=at)
        return self._in(scope, min(found)[1]) if found else None

    def stated_before(self, scope: str, fingerprint: int, at: int) -> Memory | None:
        """`same_statement`; if there is none, the newest with this fingerprint that another has replaced by `at`."""
        found = self._rows("stated_before", fingerprint=fingerprint, at=at)
        if not found:
            return None
        holding = [row for row in found if row[0]]
        return self._in(scope, (min(holding) if holding else max(found))[2])

    def with_fingerprints(self, fingerprints: Sequence[int]) -> set[int]:
        """Those among some fingerprints that an active memory of any scope has."""
        return {row[0] for row in self._rows("marked", marks=self._database.numbers(list(set(fingerprints))))}

    def ending(self, end: bytes) -> list[bytes]:
        """Ids, a dozen at most, that have these last bytes, as many as a short id has."""
        return [row[0] for row in self._rows("ids_from_short", low=end, high=end, scopes=None)]

    def keyed(self, scope: str, key: str, *, known_at: int | None = None) -> list[Memory]:
        """Active memories of a key, as known now or at `known_at`, by valid_from."""
        if known_at is None:
            return self._memories("keyed", scope=scope, key=key)
        return self._memories("keyed_known_at", scope=scope, key=key, known_at=known_at)

    def keys(self, scope: str) -> list[str]:
        """Every key that has an active memory in a scope, sorted."""
        return [row[0] for row in self._rows("keys", scope=scope)]

    def renamed_key(self, scope: str, key: str) -> str | None:
        """The key that what was once under `key` has now, when it has another; by its last change. Else one in use that
        differs in case alone."""
        found = self._rows("renamed_key", scope=scope, key=key)
        if not found:
            bound: dict[str, Any] = {"scope": scope, "key": key}
            same = caseless_match("m.key", key, bound, 0)
            found = self._database.rows(statements()["key_in_other_case"].replace("{same}", same), bound)
        return str(found[0][0]) if found else None

    def disputed(self, scopes: Sequence[str]) -> list[tuple[bytes, int]]:
        """(id, how often) of active memories that were said to be wrong, by id."""
        return self._rows("disputed", scopes=scope_list(scopes))

    def _in(self, scope: str, num: int) -> Memory | None:
        """A whole memory by row, if it is of a scope."""
        (found,) = self.by_rows([num])
        return found if found.scope == scope else None

    def _rows(self, name: str, **bound: Any) -> list[Any]:
        return self._database.rows(statements()[name], bound)

    def _memories(self, name: str, **bound: Any) -> list[Memory]:
        return [rows.memory(row) for row in self._rows(name, **bound)]


def scope_list(scopes: Sequence[str] | None) -> str | None:
    """Scopes as statements bind them; NULL is all."""
    return None if scopes is None else json.dumps(list(scopes))


def the_only(text: str, found: Sequence[bytes], what: str, scopes: Sequence[str] | None) -> bytes:
    """The one id that a text names. Raises NotFound, AmbiguousId."""
    if not found:
        place = "" if scopes is None else f" in {' or '.join(dict.fromkeys(scopes))}"
        hint = (
            "`limpet log` lists operations" if scopes is None else "`limpet list` shows ids, scope=NAME looks elsewhere"
        )
        raise NotFound(f"no {what} with the id {text}{place}", hint=hint)
    if len(found) > 1:
        raise AmbiguousId(text, [format_id(id) for id in found])
    return found[0]
