"""Texts and JSON values under names: what frameworks call files, items and records. Each is one memory of a scope.

The text begins with the name, so that two documents that say the same stay two memories; metadata says whose it is.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...model.errors import BadInput, NotFound
from ...model.memory import is_unconfirmed

if TYPE_CHECKING:
    from ...api import Limpet
    from ...model.memory import Memory
    from ...recall.answer import Item
    from ...remember.write import Receipt

PAGE = 500
LINE_CHARACTERS = 500
SAID_BY_A_PERSON = "a person said what stands there; the change waits in `limpet review`"
# Characters that no memory holds, and their forms in JSON.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_ODD = re.compile(r"\\u00|\\[bf]|[\x7f-\x9f\ud800-\udfff]")
log = logging.getLogger(__name__)


def now() -> datetime:
    return datetime.now(UTC)


class Documents:
    """The documents of one adapter in the scope of `memory`. Other processes may write there too."""

    def __init__(self, memory: Limpet, adapter: str) -> None:
        self.memory = memory
        self.adapter = adapter
        self._ids: dict[str, str] = {}
        self._seen: datetime | None = None

    def get(self, name: str) -> Memory | None:
        """Return the memory that is the document now."""
        # Others may have stored documents since the last look. One stored later takes the name.
        for memory in pages(self.memory, metadata={"adapter": self.adapter}, since=self._seen, clock="stored"):
            if self._is_ours(memory):
                self._ids[str(memory.metadata["document"])] = memory.id
                self._seen = memory.created_at
        try:
            memory = self.memory.get(self._ids[name])
        except (KeyError, NotFound):
            return None
        return memory if memory.state == "active" and (memory.valid_to is None or memory.valid_to > now()) else None

    def all(self, topics: Iterable[str] = ()) -> Iterator[Memory]:
        """Yield every document, the oldest first."""
        for memory in pages(self.memory, metadata={"adapter": self.adapter}, topics=topics):
            if self._is_ours(memory):
                yield memory

    def put(
        self, name: str, text: str, *, data: Any = None, topics: Iterable[str] = (), until: datetime | None = None,
        over: Memory | None = None, fresh: bool = False, **more: Any,
    ) -> Memory:  # fmt: skip
        """Store the document of a name. `over`: only if that is its memory now. `fresh`: as a new memory even if only
        metadata changes. `more`: further metadata.

        Raises BadInput if the store refuses it, a person's word stands there, or it has changed meanwhile.
        """
        metadata = {"adapter": self.adapter, "document": name} | more | ({} if data is None else packed(data))
        given: dict[str, Any] = {"kind": "note", "topics": list(topics), "metadata": metadata}
        given |= {"valid_to": until, "origin": "agent"}
        while True:
            there = over or self.get(name)
            try:
                receipt = self._store(there, _header(name) + text, given, fresh=fresh)
                break
            except BadInput:
                if over is not None or there is None or ((held := self.get(name)) and held.id == there.id):
                    raise  # else another process replaced it meanwhile, and the last word counts
        if receipt.status == "proposed":
            raise BadInput(f"{name}: {SAID_BY_A_PERSON}")
        if receipt.redacted:
            log.warning("%s is stored without its secrets (%s)", name, ", ".join(receipt.redacted))
        assert receipt.id is not None
        self._ids[name] = receipt.id
        return self.memory.get(receipt.id)

    def _store(self, there: Memory | None, content: str, given: dict[str, Any], *, fresh: bool) -> Receipt:
        if there is None:
            seen = self._seen
            receipt = self.memory.remember(content, **given)
            self._retract_twins(given["metadata"], seen)
            return receipt
        if there.content == content and given["valid_to"] is there.valid_to is None and not fresh:
            return self.memory.tag(there.id, given["topics"], values=given["metadata"])
        return self.memory.correct(there.id, content, **given)

    def _retract_twins(self, metadata: dict[str, Any], seen: datetime | None) -> None:
        """Keep the last of the documents that several processes stored under one name at the same instant."""
        where = {name: metadata[name] for name in ("adapter", "document")}
        while True:  # one that is retracted may have been replaced meanwhile
            made = list(filter(self._is_ours, pages(self.memory, metadata=where, since=seen, clock="stored")))
            if len(made) < 2:
                return
            for memory in made[:-1]:
                with suppress(BadInput):  # another process did it a moment ago
                    self.memory.retract(memory.id, "another process stored this document at the same instant")

    def delete(self, name: str) -> bool:
        """Retract a document; return whether there was one. `limpet undo` restores it. Raises BadInput."""
        where = {"adapter": self.adapter, "document": name}
        gone = self.memory.forget(metadata=where, why=f"deleted through {self.adapter}", origin="agent")
        if gone.waiting:
            raise BadInput(f"{name}: {SAID_BY_A_PERSON}")
        self._ids.pop(name, None)
        return bool(gone.memories)

    def _is_ours(self, memory: Memory) -> bool:
        return memory.scope == self.memory.scope and "document" in memory.metadata


def text_of(memory: Memory) -> str:
    """Return a document's text, without the name before it."""
    return memory.content.removeprefix(_header(str(memory.metadata.get("document"))))


def _header(name: str) -> str:
    """Return the first line of a document's text. A digest separates names that differ only in case, spaces or form."""
    plain = " ".join(unicodedata.normalize("NFC", name).casefold().split())
    if name == plain:
        return f"{name}:\n"
    return f"{' '.join(name.split())} ({hashlib.sha256(name.encode()).hexdigest()[:8]}):\n"


def packed(value: Any) -> dict[str, Any]:
    """Return a value for metadata: as JSON, or as text where it holds characters that metadata does not."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    odd = _ODD.search(text) is not None
    return {"data": None, "data_text": json.dumps(value)} if odd else {"data": value, "data_text": None}


def data_of(memory: Memory) -> Any:
    """Return the JSON that came with a document or a turn."""
    text = memory.metadata.get("data_text")
    return json.loads(str(text)) if text is not None else memory.metadata.get("data")


def readable(text: str) -> str:
    """Return a text without control characters, as a memory's text must be."""
    return _CONTROL.sub(" ", text)


def line(memory: Memory | Item) -> str:
    """Return a memory as a line for a model, marked where nobody here has vouched for it."""
    outside = ", unconfirmed" if is_unconfirmed(memory.origin, memory.trust) else ""
    text = " ".join(memory.content.split())[:LINE_CHARACTERS].replace("<", "&lt;")
    return f"- {memory.valid_from:%Y-%m-%d} [{memory.kind}{outside}] {text}"


def pages(memory: Limpet, **where: Any) -> Iterator[Memory]:
    """Yield every memory that a filter of `list` lets pass, the oldest first."""
    cursor: str | None = ""
    while cursor is not None:
        page = memory.list(**where, limit=PAGE, cursor=cursor or None, ascending=True)
        yield from page.memories
        cursor = page.cursor
