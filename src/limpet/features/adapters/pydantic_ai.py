"""Pydantic AI's harness: a store for its `Memory` capability, whose files are memories, searched by recall."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...model.errors import BadInput
from . import framework
from .documents import Documents, pages, text_of

with framework("limpet[pydantic-ai]"):
    from pydantic_ai_harness.memory import (
        MemoryConflictError,
        MemoryFile,
        MemoryMutation,
        MemoryOperation,
        MemoryOperationConflictError,
        MemorySearchMatch,
        MemorySearchResult,
    )

if TYPE_CHECKING:
    from ...api import Limpet
    from ...model.memory import Memory

ADAPTER = "pydantic-ai"
MOST_RESULTS = 200
CHANGED = "memory path {!r} changed before it could be written"


class LimpetMemoryStore:
    """`MemoryStore`, `MetadataMemoryStore` and `SearchableMemoryStore`: `Agent(capabilities=[Memory(store=...)])`."""

    def __init__(self, memory: Limpet) -> None:
        self._files = Documents(memory, ADAPTER)
        self._lock = threading.Lock()

    async def read(self, path: str, *, max_chars: int) -> Any:
        _check(path)
        if max_chars <= 0:
            raise ValueError("max_chars must be positive")
        memory = await asyncio.to_thread(self._files.get, path)
        if memory is None:
            return None
        text, about = text_of(memory), memory.metadata
        return MemoryFile(
            content=text[:max_chars], version=memory.id, operation_id=about.get("operation"),
            truncated=len(text) > max_chars, metadata=about.get("data"),
        )  # fmt: skip

    async def get_operation(self, operation: MemoryOperation) -> Any:
        return await asyncio.to_thread(self._done, operation)

    async def write(
        self, path: str, content: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> Any:
        """Write a file. Raises MemoryConflictError, MemoryOperationConflictError, BadInput."""
        return await asyncio.to_thread(self._write, path, content, expected_version, {}, operation)

    async def write_with_metadata(
        self, path: str, content: str, *, expected_version: str | None, metadata: Mapping[str, str] | None,
        operation: MemoryOperation | None = None,
    ) -> Any:  # fmt: skip
        return await asyncio.to_thread(self._write, path, content, expected_version, dict(metadata or {}), operation)

    async def delete(self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None) -> Any:
        """Delete a file. Raises as `write` does. The deletion of a missing file leaves no receipt of its operation."""
        return await asyncio.to_thread(self._delete, path, expected_version, operation)

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        if limit <= 0:
            raise ValueError("limit must be positive")
        paths = await asyncio.to_thread(lambda: [str(memory.metadata["document"]) for memory in self._files.all()])
        return sorted(path for path in paths if path.startswith(prefix))[:limit]

    async def search(
        self, prefix: str, query: str, *, limit: int, max_files: int, max_chars: int, max_file_chars: int
    ) -> Any:
        """Search the files directly below the prefix by recall, within the limits of what is returned."""
        if not query.split() or min(limit, max_files, max_chars, max_file_chars) <= 0:
            return MemorySearchResult(matches=[], scanned=0, truncated=False)
        return await asyncio.to_thread(self._search, prefix, query, limit, max_files, max_chars)

    def _write(
        self, path: str, content: str, expected: str | None, metadata: dict[str, str], operation: MemoryOperation | None
    ) -> Any:
        def write(there: Memory | None) -> str:
            more = {"existed": there is not None, **_receipt("operation", operation)}
            topic = path.rpartition("/")[0] or ADAPTER
            try:
                memory = self._files.put(
                    path, content, data=metadata or None, topics=[topic], over=there, fresh=True, **more
                )
            except BadInput as error:
                if "superseded" in error.message:  # by another process, meanwhile
                    raise MemoryConflictError(CHANGED.format(path)) from error
                raise
            return memory.id

        return self._once(path, expected, operation, write)

    def _delete(self, path: str, expected: str | None, operation: MemoryOperation | None) -> Any:
        def delete(there: Memory | None) -> None:
            if there is not None:
                if operation is not None:
                    self._files.memory.tag(there.id, values=_receipt("deletion", operation))
                self._files.delete(path)

        return self._once(path, expected, operation, delete)

    def _once(
        self, path: str, expected: str | None, operation: MemoryOperation | None,
        change: Callable[[Memory | None], str | None],
    ) -> Any:  # fmt: skip
        """Change a file that is what is expected, once for an operation. `change` returns the file's version."""
        _check(path)
        with self._lock:
            if operation is not None and (done := self._done(operation)) is not None:
                return done
            there = self._files.get(path)
            if (None if there is None else there.id) != expected:
                raise MemoryConflictError(CHANGED.format(path))
            return MemoryMutation(version=change(there), replayed=False, existed=there is not None)

    def _done(self, operation: MemoryOperation) -> Any:
        """Return the result of an operation that was done before, read from the file's versions; None if it was not."""
        for name in ("operation", "deletion"):
            where = {"adapter": ADAPTER, name: operation.id}
            for memory in pages(self._files.memory, metadata=where, all_states=True):
                if memory.metadata[f"{name}_of"] != operation.fingerprint:
                    raise MemoryOperationConflictError(f"operation id {operation.id!r} was reused differently")
                deleted = name == "deletion"
                existed = deleted or bool(memory.metadata["existed"])
                return MemoryMutation(version=None if deleted else memory.id, replayed=True, existed=existed)
        return None

    def _search(self, prefix: str, query: str, limit: int, max_files: int, max_chars: int) -> Any:
        paths = [str(memory.metadata["document"]) for memory in self._files.all()]
        below = [path for path in paths if _is_child(prefix, path)]
        topics = [prefix.removesuffix("/")] if prefix.endswith("/") else []
        items = self._files.memory.recall(query, k=MOST_RESULTS, metadata={"adapter": ADAPTER}, topics=topics)
        matches: list[Any] = []
        left, cut = max_chars, False
        for item in items:
            path = str(item.metadata["document"])
            if not _is_child(prefix, path):
                continue
            free = left - len(path.removeprefix(prefix))
            if len(matches) == limit or free <= 0:
                cut = True
                break
            text = item.content.partition(":\n")[2]
            matches.append(MemorySearchMatch(path=path, snippet=text[:free], score=item.score))
            left = free - len(text[:free])
        return MemorySearchResult(
            matches=matches, scanned=min(len(below), max_files), truncated=cut or len(below) > max_files
        )


def _check(path: str) -> None:
    if not all(part and part not in (".", "..") for part in path.split("/")):
        raise ValueError(f"invalid memory path: {path!r}")


def _is_child(prefix: str, path: str) -> bool:
    return path.startswith(prefix) and "/" not in path.removeprefix(prefix)


def _receipt(name: str, operation: MemoryOperation | None) -> dict[str, Any]:
    return {name: operation and operation.id, f"{name}_of": operation and operation.fingerprint}
