"""Conversations that a framework keeps: each item is an episode of a session, in order, and comes back as it was.

A text ends with the turn that it is, so that the same words said twice stay two turns; metadata holds the item itself.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...model.errors import BadInput
from ...model.memory import MAX_METADATA_BYTES
from .documents import data_of, packed, pages, readable

if TYPE_CHECKING:
    from datetime import datetime

    from ...api import Limpet
    from ...model.memory import Memory

# The longest item in metadata, and the longest of its texts when it is larger.
ITEM_BYTES = MAX_METADATA_BYTES - 4_000
CUT_CHARACTERS = 4_000
# The part of a turn's text that a recall reads.
MOST_CHARACTERS = 100_000
# The speaker whose words come from outside.
TOOL = "tool"
# States of items that were not taken back.
HELD = ("active", "quarantined", "merged", "archived")
log = logging.getLogger(__name__)


class Turns:
    """The items of one session of an adapter, in the scope of `memory`."""

    def __init__(self, memory: Limpet, adapter: str, session: str) -> None:
        self.memory = memory
        self.adapter = adapter
        self.session = session

    def held(self) -> list[Memory]:
        """Return the turns in order, with those that wait for a person before they may be recalled."""
        kept = (memory for memory in self._all() if memory.state in HELD and memory.scope == self.memory.scope)
        return sorted(kept, key=lambda turn: turn.position)

    def items(self, limit: int | None = None) -> list[Any]:
        """Return the last items, in the order they were added."""
        held = self.held()
        first = 0 if limit is None or limit < 0 else max(0, len(held) - limit)
        return [data_of(turn) for turn in held[first:]]

    def add(self, items: Iterable[tuple[str, str, Any]]) -> None:
        """Add turns: (speaker, text, the item as JSON) of each. Raises BadInput."""
        self.add_named((secrets.token_hex(4), *item, None) for item in items)

    def names(self) -> set[object]:
        """Return the names of all turns, retracted ones included."""
        return {memory.metadata.get("turn") for memory in self._all()}

    def _all(self) -> Iterator[Memory]:
        return pages(self.memory, session=self.session, metadata={"adapter": self.adapter}, all_states=True)

    def add_named(self, items: Iterable[tuple[str, str, str, Any, datetime | None]]) -> None:
        """Add named turns, each name once: (name, speaker, text, item, time)."""
        turns = [
            {
                "content": f"{readable(text).strip()[:MOST_CHARACTERS]}\n(turn {name} of {self.session})".strip(),
                "kind": "episode", "speaker": who, "valid_from": at, "session": self.session,
                "origin": "tool" if who == TOOL else "agent",
                "metadata": {"adapter": self.adapter, "turn": name, **packed(fitting(item))},
            }
            for name, who, text, item, at in items
        ]  # fmt: skip
        for receipt in self.memory.remember_batch(turns):
            if receipt.status == "rejected":
                raise BadInput(f"a turn of {self.session} is not kept: {receipt.reason}")
            if receipt.redacted:
                log.warning("a turn of %s is kept without its secrets (%s)", self.session, ", ".join(receipt.redacted))

    def pop(self) -> Any | None:
        """Retract the last item and return it."""
        held = self.held()
        if not held:
            return None
        self.memory.retract(held[-1].id, f"taken back through {self.adapter}")
        return data_of(held[-1])

    def clear(self) -> None:
        """Retract all of them, in one operation that `limpet undo` takes back."""
        held = [turn.id for turn in self.held()]
        if held:
            self.memory.forget(held, why=f"session cleared through {self.adapter}")


def fitting(item: Any) -> Any:
    """Return the item, with long texts cut until metadata can hold it. Raises BadInput where a cut breaks it."""
    size = len(json.dumps(packed(item), ensure_ascii=False).encode())
    return item if size <= ITEM_BYTES else _cut(item)


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_cut(part) for part in value]
    if not isinstance(value, str) or len(value) <= CUT_CHARACTERS:
        return value
    if " " not in value[:CUT_CHARACTERS]:  # data and no text
        raise BadInput(
            f"an item of more than {ITEM_BYTES:,} bytes holds data, which cannot be cut",
            hint="keep files and images elsewhere, and name them",
        )
    return f"{value[:CUT_CHARACTERS]} [cut: {len(value) - CUT_CHARACTERS:,} characters more]"
