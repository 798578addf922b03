"""CrewAI: a storage backend for its `Memory`, searched by recall.

CrewAI searches a backend by vector, so `LimpetBackend.embedder` makes vectors that only identify a text.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...model.errors import BadInput
from . import framework
from .documents import Documents, data_of, text_of

with framework("crewai>=1.9,<2"):
    from crewai.memory.types import MemoryRecord, ScopeInfo

if TYPE_CHECKING:
    from ...api import Limpet

ADAPTER = "crewai"
MOST_RESULTS = 1_000
# Questions whose vectors are still known.
KNOWN_TEXTS = 10_000
# The likeness of what is found by its words alone.
BY_WORDS = 0.5


class TextVectors:
    """Texts as vectors that stand for them: the same for the same text, far apart for others."""

    def __init__(self) -> None:
        self._texts: OrderedDict[tuple[float, ...], str] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, input: list[str]) -> list[list[float]]:
        made = []
        for text in input:
            vector = [(byte - 127.5) / 417.0 for byte in hashlib.sha256(text.encode()).digest()]
            with self._lock:
                self._texts[tuple(vector)] = text
                if len(self._texts) > KNOWN_TEXTS:
                    self._texts.popitem(last=False)
            made.append(vector)
        return made

    def text_of(self, vector: Iterable[float]) -> str:
        """Return the query's text. Raises BadInput for a vector of another embedder."""
        try:
            return self._texts[tuple(vector)]
        except KeyError:
            raise BadInput(
                "this vector stands for no known text", hint="Memory(storage=backend, embedder=backend.embedder)"
            ) from None


class LimpetBackend:
    """`StorageBackend` in the scope of an open store: `Memory(storage=backend, embedder=backend.embedder)`."""

    def __init__(self, memory: Limpet) -> None:
        self.embedder = TextVectors()
        self._records = Documents(memory, ADAPTER)

    def save(self, records: list[Any]) -> None:
        for record in records:
            self.update(record)

    def update(self, record: Any) -> None:
        """Update a record. Raises BadInput."""
        data = record.model_dump(mode="json", exclude={"content", "id"})
        self._records.put(record.id, record.content, data=data, topics=record.categories)

    def search(
        self, query_embedding: list[float], scope_prefix: str | None = None, categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None, limit: int = 10, min_score: float = 0.0,
    ) -> list[tuple[Any, float]]:  # fmt: skip
        """Return (record, cosine) of the best results, in the order of a recall."""
        query = self.embedder.text_of(query_embedding)
        items = self._records.memory.recall(query, k=MOST_RESULTS, metadata={"adapter": ADAPTER}, trace=True)
        kept: list[tuple[Any, float]] = []
        for item in items:
            record, signal = _record(item), item.why.signals.get("vector") if item.why else None
            score = BY_WORDS if signal is None else min(1.0, max(0.0, signal.raw))
            if score >= min_score and _is_wanted(record, scope_prefix, categories, metadata_filter):
                kept.append((record, score))
        return kept[:limit]

    def delete(
        self, scope_prefix: str | None = None, categories: list[str] | None = None, record_ids: list[str] | None = None,
        older_than: datetime | None = None, metadata_filter: dict[str, Any] | None = None,
    ) -> int:  # fmt: skip
        """Retract the records that match, and return how many."""
        gone = [
            record
            for record in self._all(scope_prefix)
            if _is_wanted(record, None, categories, metadata_filter)
            and (record_ids is None or record.id in record_ids)
            and (older_than is None or _utc(record.created_at) < _utc(older_than))
        ]
        return sum(self._records.delete(record.id) for record in gone)

    def get_record(self, record_id: str) -> Any | None:
        memory = self._records.get(record_id)
        return None if memory is None else _record(memory)

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[Any]:
        records = sorted(self._all(scope_prefix), key=lambda record: _utc(record.created_at), reverse=True)
        return records[offset : offset + limit]

    def get_scope_info(self, scope: str) -> Any:
        items = self._all(scope)
        times = sorted(_utc(item.created_at) for item in items)
        return ScopeInfo(
            path=scope, record_count=len(items), child_scopes=self.list_scopes(scope),
            categories=sorted({name for item in items for name in item.categories}),
            oldest_record=times[0] if times else None, newest_record=times[-1] if times else None,
        )  # fmt: skip

    def list_scopes(self, parent: str = "/") -> list[str]:
        above = parent.rstrip("/")
        scopes = (record.scope.rstrip("/") for record in self._all(parent))
        return sorted({f"{above}/{path.removeprefix(f'{above}/').split('/')[0]}" for path in scopes if path != above})

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        return Counter(name for record in self._all(scope_prefix) for name in record.categories)

    def count(self, scope_prefix: str | None = None) -> int:
        return len(self._all(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        self.delete(scope_prefix)

    async def asave(self, records: list[Any]) -> None:
        await asyncio.to_thread(self.save, records)

    async def asearch(self, query_embedding: list[float], *args: Any, **given: Any) -> list[tuple[Any, float]]:
        return await asyncio.to_thread(self.search, query_embedding, *args, **given)

    async def adelete(self, *args: Any, **given: Any) -> int:
        return await asyncio.to_thread(self.delete, *args, **given)

    def _all(self, scope_prefix: str | None) -> list[Any]:
        return [record for record in map(_record, self._records.all()) if _is_wanted(record, scope_prefix, None, None)]


def _record(memory: Any) -> Any:
    """Return a memory or an item of a recall as a record."""
    return MemoryRecord(**data_of(memory), id=str(memory.metadata["document"]), content=text_of(memory))


def _is_wanted(record: Any, scope: str | None, categories: list[str] | None, metadata: dict[str, Any] | None) -> bool:
    above = (scope or "").rstrip("/")
    return (
        (not above or record.scope == above or record.scope.startswith(f"{above}/"))
        and (not categories or any(name in record.categories for name in categories))
        and all(record.metadata.get(name) == value for name, value in (metadata or {}).items())
    )


def _utc(time: datetime) -> datetime:
    """Read a time of CrewAI, which is UTC without saying so."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time
