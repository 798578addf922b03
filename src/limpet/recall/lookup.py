"""Memories by id, listings, keyed facts, and whether the file that a memory was read from is fresh, drifted or gone.

The contracts are those of the verbs in `api.py`. Files are only compared; nothing is stored, and no rank depends on it.
"""

from __future__ import annotations

import builtins
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress

from ..model.clock import Instant, MaybeInstant, format_time
from ..model.dataclass import dataclass, replace
from ..model.errors import BadInput, NotFound
from ..model.ids import format_id, parse_id
from ..model.memory import STATES, Memory
from ..store.records import MOST_LISTED, Filter, Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from ..context import Context, Time

# Where a memory's metadata says what it was read from: {"root", "file", "line", "lines", "digest", "file_digest", ...}.
INDEXED = "indexed"
# Larger files are taken as they are: comparing them would be felt.
MAX_BYTES = 50_000_000


def lines_digest(lines: Sequence[str]) -> str:
    """A mark of some whole lines, line ends left out."""
    return content_digest("\n".join(lines).encode("utf-8", "surrogatepass"))


def content_digest(content: bytes) -> str:
    """A mark of the bytes of a file."""
    import hashlib  # a recall that finds nothing indexed need not load it

    return hashlib.sha256(content).hexdigest()[:16]


class Sources:
    """Compares memories with their files, each file read once."""

    def __init__(self) -> None:
        self._files: dict[Path, bytes | None] = {}

    def state(self, metadata: Mapping[str, Any]) -> str | None:
        """fresh: its lines are in the file as they were. drifted: they are not. gone: the file is not there.

        None: it was not read from a file, or the whole folder is not on this machine.
        """
        mark = metadata.get(INDEXED)
        if not isinstance(mark, dict):
            return None
        root, name, line, count = (mark.get(one) for one in ("root", "file", "line", "lines"))
        if not (isinstance(root, str) and isinstance(name, str) and isinstance(line, int) and isinstance(count, int)):
            return None
        from pathlib import Path

        if "\0" in root + name or ".." in Path(name).parts or not Path(root).is_dir():
            return None
        path = Path(root) / name
        if path not in self._files:
            self._files[path] = None
            with suppress(OSError):
                facts = path.stat()
                if stat.S_ISREG(facts.st_mode) and facts.st_size <= MAX_BYTES:
                    with path.open("rb") as file:
                        self._files[path] = file.read(MAX_BYTES)
        content = self._files[path]
        if content is None:
            return "gone"
        if content_digest(content) == mark.get("file_digest"):
            return "fresh"
        # Whether the same lines are anywhere in the file, where they were first of all.
        lines = content.decode("utf-8-sig", "replace").splitlines()
        places = sorted(range(max(0, len(lines) - count + 1)), key=lambda at: abs(at - line + 1)) if count > 0 else []
        same = any(lines_digest(lines[at : at + count]) == mark.get("digest") for at in places)
        return "fresh" if same else "drifted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One value of a key and the interval in which it holds."""

    key: str
    value: str
    id: str
    scope: str
    valid_from_us: int
    valid_to_us: int | None
    confidence: float
    confidence_word: str
    origin: str
    recorded_at_us: int  # when the store first knew it
    valid_from = Instant("valid_from_us")
    valid_to = MaybeInstant("valid_to_us")
    recorded_at = Instant("recorded_at_us")

    def as_dict(self) -> dict[str, object]:
        """{"key", "value", "id", "valid_from", "valid_to", "confidence", "confidence_word",
        "scope", "origin", "recorded_at"}."""
        return {
            "key": self.key,
            "value": self.value,
            "id": self.id,
            "valid_from": format_time(self.valid_from),
            "valid_to": format_time(self.valid_to),
            "confidence": self.confidence,
            "confidence_word": self.confidence_word,
            "scope": self.scope,
            "origin": self.origin,
            "recorded_at": format_time(self.recorded_at),
        }


def as_fact(memory: Memory) -> Fact:
    """The fact that a keyed memory states."""
    assert memory.key is not None
    return Fact(
        key=memory.key,
        value=memory.content,
        id=memory.id,
        scope=memory.scope,
        valid_from_us=memory.valid_from_us,
        valid_to_us=memory.valid_to_us,
        confidence=memory.confidence,
        confidence_word=memory.confidence_word,
        origin=memory.origin,
        recorded_at_us=memory.created_at_us,
    )


COUNTED_BY = {"kind", "state", "origin", "scope", "topic", "day"}


def get(context: Context, id: str, *, known_at: Time) -> Memory:
    raw = context.store.memories.resolve(id, context.scopes)
    memory = context.store.memories.get(raw, known_at=context.time(known_at))
    if memory is None:
        raise NotFound(f"memory {format_id(raw)} was not known then")
    return replace(context.as_read(memory), source_state=Sources().state(memory.metadata))


def show(context: Context, id: str) -> Memory:
    memory = get(context, id, known_at=None)
    if not context.store.read_only and memory.state != "purged":
        context.store.usage.record([parse_id(memory.id)], context.now())
    return memory


def history(context: Context, id: str) -> builtins.list[Memory]:
    return [
        context.as_read(one)
        for one in context.store.memories.versions(context.store.memories.resolve(id, context.scopes))
    ]


def list(
    context: Context, where: Filter, *, sort: str, limit: int, cursor: str | None, all_states: bool,
    ascending: bool = False,
) -> Page:  # fmt: skip
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_LISTED:
        raise BadInput(f"limit must be from 1 to {MOST_LISTED}, not {limit!r}")
    where = _listed(context, where, all_states)
    page = context.store.listings.page(where, sort=sort, limit=limit, cursor=cursor, descending=not ascending)
    return replace(page, memories=[context.as_read(one) for one in page.memories])


def count(context: Context, where: Filter, *, all_states: bool) -> int:
    return context.store.listings.count(_listed(context, where, all_states))


def count_by(context: Context, where: Filter, by: Sequence[str], *, all_states: bool) -> dict[tuple[str, ...], int]:
    if not all(isinstance(one, str) for one in by):
        raise BadInput(f"counted by names, not {by!r:.60}", hint='such as count_by("kind", "topic")')
    if not by or len(set(by)) < len(by) or not set(by) <= COUNTED_BY:
        raise BadInput(f"cannot count by {', '.join(by) or 'nothing'}", hint=f"by {', '.join(sorted(COUNTED_BY))}")
    return context.store.listings.count_by(_listed(context, where, all_states), by)


def abbreviate(context: Context, ids: Sequence[str], *, items: bool) -> builtins.list[str]:
    several = [parse_id(id) for id in ids]
    return context.store.reviews.abbreviate(several) if items else context.store.memories.abbreviate(several)


def _listed(context: Context, where: Filter, all_states: bool) -> Filter:
    return replace(where, states=STATES) if all_states else replace(where, as_of=context.now())
