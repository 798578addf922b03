"""Google ADK: a `MemoryService` that keeps the events of sessions and finds them, and all else in the scope, by recall.

Each user of an app has a scope of their own, `adk:APP:USER`, unless `scope_of` says otherwise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...model.memory import is_unconfirmed
from . import framework
from .documents import readable
from .turns import Turns

with framework("limpet[adk]"):
    from google.adk.memory import BaseMemoryService
    from google.adk.memory.base_memory_service import SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai.types import Content, Part

if TYPE_CHECKING:
    from ...api import Limpet
    from ...recall.answer import Item

ADAPTER = "adk"


class LimpetMemoryService(BaseMemoryService):
    """ADK's memory service: `Runner(..., memory_service=LimpetMemoryService(memory))`. `k`: results of a search."""

    def __init__(self, memory: Limpet, *, k: int = 10, scope_of: Callable[[str, str], str] | None = None) -> None:
        self._memory = memory
        self._k = k
        self._scope_of = scope_of or (lambda app, user: f"adk:{quote(app, safe='')}:{quote(user, safe='@')}")

    async def add_session_to_memory(self, session: Any) -> None:
        """Store the texts of a session. Added again, it stores only what is new, and nothing that was deleted."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, session_id=session.id, events=session.events
        )

    async def add_events_to_memory(
        self, *, app_name: str, user_id: str, events: Sequence[Any], session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002
    ) -> None:  # fmt: skip
        await asyncio.to_thread(self._add, self._in(app_name, user_id), session_id or "adk", events)

    async def add_memory(
        self, *, app_name: str, user_id: str, memories: Sequence[Any],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:  # fmt: skip
        """Store statements as facts, with `custom_metadata`. Raises BadInput."""
        memory = self._in(app_name, user_id)
        for entry in memories:
            metadata = {"adapter": ADAPTER, **(custom_metadata or {}), **entry.custom_metadata}
            await asyncio.to_thread(
                memory.remember, _text(entry.content), kind="fact", metadata=metadata, valid_from=entry.timestamp
            )

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> Any:
        results = await asyncio.to_thread(self._in(app_name, user_id).recall, query, k=self._k)
        return SearchMemoryResponse(memories=[_entry(item) for item in results])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Retract a memory; `limpet undo` restores it. Raises NotFound, BadInput."""
        if memory_id is not None:
            await asyncio.to_thread(self._in(app_name, user_id).retract, memory_id, f"deleted through {ADAPTER}")

    def _in(self, app: str, user: str) -> Limpet:
        return self._memory.in_scope(self._scope_of(app, user))

    def _add(self, memory: Limpet, session: str, events: Sequence[Any]) -> None:
        turns = Turns(memory, ADAPTER, session)
        known = turns.names()
        new = [(event, _text(event.content)) for event in events if event.id not in known]
        texts = [(event, text, datetime.fromtimestamp(event.timestamp, UTC)) for event, text in new if text.strip()]
        turns.add_named((event.id, event.author, text, text, at) for event, text, at in texts)


def _text(content: Any) -> str:
    """Return the spoken text of a content, without its calls, thoughts and files."""
    parts = (content.parts if content else None) or ()
    return readable("\n".join(part.text for part in parts if part.text and not part.thought))


def _entry(item: Item) -> Any:
    who = item.speaker or item.origin
    data = item.metadata.get("data") if item.metadata.get("adapter") == ADAPTER else None
    return MemoryEntry(
        id=item.id,
        content=Content(role="user" if who == "user" else "model", parts=[Part(text=str(data or item.content))]),
        author=f"{who} (unconfirmed)" if is_unconfirmed(item.origin, item.trust) else who,
        timestamp=item.valid_from.isoformat(),
        custom_metadata={"kind": item.kind, "topics": list(item.topics), "trust": item.trust},
    )
