"""The writer of a dry run: it decides as the transactions of the import would, and stores nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ...model.dataclass import replace
from ...model.events import Event
from ...model.ids import format_id
from ...model.memory import Memory, caseless, is_below
from ...model.state import MemoryState
from ...remember.validation import ValidStatement
from ...remember.write import Writer, effective_trust, raw_id
from ...text.normalise import fingerprint


class Trial(Writer):
    """One for all parts of an import: later ones meet what earlier ones said as if it was stored."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._keyed: dict[tuple[str, str], list[bytes]] = {}  # memories by the scope and key that they got here
        self._spelled: dict[tuple[str, str], str] = {}  # keys by how they are in lower case
        self._named: set[bytes] = set()  # memories that had no key, and that parts before this one gave one
        self._named_now: set[bytes] = set()
        self._values_seen: dict[bytes, tuple[int, Memory]] = {}  # with the events that there were then

    def expect(self, statements: Sequence[ValidStatement]) -> list[int]:
        self._ids.clear()  # another part begins: those before it are there now
        self._named |= self._named_now
        self._named_now.clear()
        return super().expect(statements)

    def _add(self, *given: Any, **more: Any) -> Event:
        made = super()._add(*given, **more)
        memory, data = made.memory, made.data
        if made.type in ("remembered", "keyed") and data.get("key"):
            there = self.as_it_is(memory)
            if made.type == "keyed":
                self._named_now.add(memory)
            scope = data["scope"] if there is None else there.scope
            self._keyed.setdefault((scope, data["key"]), []).append(memory)
            self._spelled.setdefault((scope, caseless(data["key"])), data["key"])
        return made

    def values(self, statement: ValidStatement) -> tuple[list[Memory], str | None]:
        values, renamed = super().values(statement)
        if statement.key is None:
            return values, renamed
        spelled = self._spelled.get((statement.scope, caseless(statement.key)))
        own = self._keyed.get((statement.scope, renamed or statement.key), [])
        if not values and not own and spelled:
            own, renamed = self._keyed[statement.scope, spelled], spelled
        ids = dict.fromkeys((*map(raw_id, values), *own))
        found = [self._value(id) for id in ids]
        found.sort(key=lambda one: one.valid_from_us)
        key = renamed or statement.key
        return [one for one in found if one.state == "active" and one.key == key], renamed

    def _value(self, id: bytes) -> Memory:
        count = len(self._by_memory.get(id, ()))
        if id not in self._values_seen or self._values_seen[id][0] != count:
            there = self.as_it_is(id)
            if isinstance(there, MemoryState):  # the fields that decide are named as those of a `Memory`
                there = cast(Memory, replace(cast(Any, there), id=format_id(id)))
            assert there is not None
            self._values_seen[id] = count, there
        return self._values_seen[id][1]

    def known(self, statement: ValidStatement, mark: int, values: Sequence[Memory]) -> Memory | MemoryState | None:
        if statement.key:  # what holds decides, and not what was said at some time
            self.said.pop((statement.scope, mark), None)
        there = super().known(statement, mark, values)
        gone = statement.key is None and there is not None and raw_id(there) in self._named
        return None if gone else there

    def _without_key(self, statement: ValidStatement) -> Memory | None:
        there = super()._without_key(statement)
        there = None if there is not None and raw_id(there) in self._named else there
        bare = fingerprint(statement.scope, statement.kind, statement.speaker, None, statement.content)
        said = self.said.get((statement.scope, bare))
        if there or said is None or said in self._ids or (statement.valid_from, statement.valid_to) != (None, None):
            return there
        there = self._value(said)
        trusted = not is_below(effective_trust(statement, self.causes(statement)), there.trust)
        return there if trusted and not there.key else None
