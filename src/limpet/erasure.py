"""Purge: everything that holds the words of a memory, erased or named. The contract is that of the verb in `api.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import registry
from .model.dataclass import NamedTuple
from .model.errors import BadInput, LimpetError
from .model.ids import format_id, parse_id, session_mark
from .model.memory import STATES, Filter
from .settings import ERASING_SECONDS
from .store.records import ALL, Scan, SessionRow

if TYPE_CHECKING:
    from .context import Context
    from .model.memory import Memory
    from .remember.write import Writer

# A purge names memories that hold the longest line of what goes: lines shorter than this say nothing of their own, and
# episodes quote about as much as the other.
LEAST_QUOTED, MOST_QUOTED = 16, 120
# Shorter words of a title tell nothing of a memory.
LEAST_TITLED = 4


class PurgeReport(NamedTuple):
    """The report of a purge, done or dry, and what else holds the same words."""

    id: str
    versions: int
    events: int
    purged: bool
    quoted: tuple[str, ...] = ()  # other memories that hold its words as they are: episodes, copies
    wordings: tuple[str, ...] = ()  # memories that it replaced or speaks for, or that speaks for it: said otherwise
    copies: tuple[str, ...] = ()  # files outside of the store that hold it: exports, backups, segments, mirrors
    also: tuple[str, ...] = ()  # memories that were purged with it
    titles: tuple[str, ...] = ()  # sessions whose titles go with it: they alone would keep a word of it
    waits: bool = False  # a process still reads the state from before: the log is emptied when it has ended
    proof: Scan | None = None  # what a search of the files has found
    beyond: str = ""  # what of the engine it cannot reach

    def as_dict(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "id": self.id, "versions": self.versions, "events": self.events, "purged": self.purged
        }  # fmt: skip
        lists = {name: list(getattr(self, name)) for name in ("quoted", "wordings", "copies", "also", "titles")}
        shown |= {name: value for name, value in lists.items() if value} | ({"waits": True} if self.waits else {})
        shown |= {"beyond": self.beyond} if self.beyond else {}
        if self.proof is not None:
            shown["proof"] = self.proof._asdict()
        return shown


def purge(
    context: Context, id: str, *, confirm: bool, all_wordings: bool = False, quoting: bool = False,
    copies: bool = False, prove: bool = False, wait: float = ERASING_SECONDS,
    scopes: Collection[str] | None = None, reopened: Callable[[str], AbstractContextManager[Any]] | None = None,
) -> PurgeReport:  # fmt: skip
    """Purge a memory. `reopened`: opens a copy of the store at a path for the same purge; only for `copies`."""
    store, memory = context.store, context.memory(id)
    within = context.scopes if scopes is None else tuple(set(scopes).intersection(context.scopes))
    if memory.scope not in within:
        raise BadInput(f"memory {memory.id} is of another scope than those of this purge")
    raw = parse_id(memory.id)
    gone = memory.state == "purged"
    versions = len(store.memories.versions(raw))
    events = sum(1 for _ in store.ledger.events(memory=raw))
    wordings = _wordings(context, memory, within)
    going = [memory, *(wordings if all_wordings else [])]
    quoted = _quoting(context, going, within)
    if quoting:
        going += [other for other in map(context.memory, quoted) if other.state != "purged"]
    ids = [parse_id(item.id) for item in going]
    pieces, others = store.erasure.pieces(ids)
    titled = _titled(context, going, within)
    waits = False
    if confirm:
        fresh = [parse_id(item.id) for item in going if item.state != "purged"]
        if fresh:
            gone_too = store.erasure.sessions_only_of(fresh)
            # A title of a session that holds others goes alone; the session keeps its name, and its end.
            alone = {mark: row for row in titled if (mark := session_mark(row.scope, row.name)) not in gone_too}

            def write(writer: Writer) -> None:
                for item in (*fresh, *gone_too, *alone):
                    writer.event("purged", item, origin="agent")
                for mark, row in alone.items():
                    if row.ended_at_us is not None:
                        writer.event("session_ended", mark, origin="agent", scope=row.scope, name=row.name)

            context.write(write)
        waits = not store.erasure.flush(wait)
        if not waits and store.erasure.scour([*pieces, *others]):
            waits = not store.erasure.flush(wait)
    places = _places(context, refresh=confirm)
    if scopes is not None:  # a file may hold the memories of any scope
        places = []
    left = _holding(context, pieces, places)
    if confirm and copies and reopened is not None:
        _erase_copies(context, [(path, kind) for path, kind in places if path in left], going, pieces, reopened)
        left = _holding(context, pieces, places)
    files = [*store.erasure.own_files(), *_files(path for path, _ in places)] if prove else []
    named = {item.id for item in going} if confirm else {memory.id}
    return PurgeReport(
        id=memory.id, versions=versions, events=events, purged=confirm or gone,
        quoted=tuple(other for other in quoted if other not in named),
        wordings=tuple(wording.id for wording in wordings if wording.id not in named),
        copies=tuple(left), also=tuple(sorted(named - {memory.id})), waits=waits,
        titles=tuple(row.name for row in titled),
        proof=store.erasure.scan_files(pieces, files) if prove else None, beyond=store.erasure.beyond,
    )  # fmt: skip


def _wordings(context: Context, memory: Memory, scopes: tuple[str, ...]) -> list[Memory]:
    """Return the memories it replaced, directly or not, those merged into it, and the one that speaks for it."""
    store = context.store
    known = {parse_id(memory.id)}
    coming = known | ({parse_id(memory.superseded_by)} if memory.state == "merged" and memory.superseded_by else set())
    wordings = coming - known
    while coming:
        coming = set(store.erasure.replaced_by(list(coming))) - known - wordings
        wordings |= coming
    there = (store.memories.get(id) for id in sorted(wordings))
    return [other for other in there if other is not None and other.state != "purged" and other.scope in scopes]


def _quoting(context: Context, memories: Iterable[Memory], scopes: tuple[str, ...]) -> tuple[str, ...]:
    """Return other memories of these scopes that hold the longest line of any wording, as far as an episode quotes."""
    memories = list(memories)
    quoting: set[str] = set()
    where = Filter(scopes=scopes, states=STATES)
    search = context.store.search
    for text in {old.content for memory in memories for old in context.store.memories.versions(parse_id(memory.id))}:
        line = max((" ".join(part.split()) for part in text.splitlines()), key=len, default="")
        if len(line) >= LEAST_QUOTED:
            texts = search.substring(line[:MOST_QUOTED], where, limit=100)
            quoting |= {format_id(row.id) for row in search.candidates(texts, where)}
    return tuple(sorted(quoting - {memory.id for memory in memories}))


def _titled(context: Context, memories: Sequence[Memory], scopes: tuple[str, ...]) -> list[SessionRow]:
    """Return sessions of these scopes whose title has a word of the memories that no other memory has."""
    search, where = context.store.search, Filter(scopes=scopes, states=STATES)
    going = {parse_id(memory.id) for memory in memories}
    words = {word for id in going for old in context.store.memories.versions(id) for word in _words(old.content)}

    def only_of_them(word: str) -> bool:
        return going.issuperset(row.id for row in search.candidates(search.substring(word, where, limit=100), where))

    rows = context.store.sessions.latest(scopes, limit=ALL)
    return [row for row in rows if row.title and any(map(only_of_them, words.intersection(_words(row.title))))]


def _words(text: str) -> list[str]:
    words = "".join(char if char.isalnum() else " " for char in text.casefold()).split()
    return [word for word in words if len(word) >= LEAST_TITLED]


def _places(context: Context, *, refresh: bool) -> list[tuple[str, str]]:
    """Return (path, kind) of every copy that the store knows of. `refresh`: sync mirrors before."""
    store = context.store
    mirrors: list[str] = registry.call("mirrors", context, refresh=refresh) or []
    kept = [(str(path), "backup") for path in store.erasure.replaced_stores()]
    return [*store.erasure.copies(), *kept, *((path, "mirror") for path in mirrors)]


def _files(paths: Iterable[str]) -> list[Path]:
    files: list[Path] = []
    for path in map(Path, paths):
        files += sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    return files


def _holding(context: Context, pieces: list[bytes], places: list[tuple[str, str]]) -> list[str]:
    """Return the places that hold a piece; all existing ones for a text too short to be told from others."""
    if not pieces:
        return [path for path, _ in places if Path(path).exists()]
    scans = ((path, context.store.erasure.scan_files(pieces, _files([path]))) for path, _ in places)
    return [path for path, scan in scans if scan.found or scan.unread]


def _erase_copies(
    context: Context, places: list[tuple[str, str]], memories: list[Memory], pieces: list[bytes],
    reopened: Callable[[str], AbstractContextManager[Any]],
) -> None:  # fmt: skip
    """Purge in backups, write segments of this device again, delete exports; what cannot be is named afterwards."""
    for path, kind in places:
        with suppress(LimpetError, OSError):
            if kind == "backup":
                with reopened(path) as other:
                    for memory in memories:
                        with suppress(LimpetError):  # made before the memory was
                            other.purge(memory.id, confirm=True)
            elif kind == "segments":
                registry.call("rewrite_segments", context, "segments", path)
            elif kind == "export" and pieces:
                for file in _files([path]):
                    if context.store.erasure.scan_files(pieces, [file]).found:
                        file.unlink()
