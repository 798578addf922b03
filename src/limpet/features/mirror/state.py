"""The sync state of a mirror: what file and store said when they last agreed, as hashes, in one JSON file in its
folder; and the report of a sync: what it did, or would do.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from ...model.dataclass import dataclass, field
from ...model.encode import PLACES, JsonForm
from ...model.errors import BadInput, StoreError
from ...model.memory import check_origin, check_scope
from ...store.files import partial_file, publish, writing
from . import OWN, STATE

Mark = tuple[int, int, int]  # modified (ns), size, inode: as long as they stay, the file was not changed
VERSION = 1
DEFAULT_INDEX_BYTES = 10_240
LEAST_INDEX_BYTES = 512


class SyncedEntry(NamedTuple):
    """One entry at the last sync."""

    id: str
    file: str  # hash of what the file said
    store: str  # hash of what the store said


@dataclass(slots=True, kw_only=True)
class SyncedFile:
    """One file at the last sync."""

    mark: Mark = (0, 0, 0)
    group: str = ""  # what a page of entries is about; "": the file is one memory
    whole: str = ""  # hash of its text
    front: str = ""  # hash of the front matter
    entries: list[SyncedEntry] = field(default_factory=list)
    # Texts in it that are no memory of their own, by hash: said elsewhere in the folder.
    repeats: list[str] = field(default_factory=list)
    # Texts in it that were refused: hash -> (line, why). They stay in the file, and are not judged again.
    refused: dict[str, tuple[int, str]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class SyncState:
    """The mirror's settings and every file at the last sync."""

    store: str
    scopes: tuple[str, ...]  # the first is where new entries go
    author: str = "user"  # the origin of what files say, unless a file names another
    index_bytes: int = DEFAULT_INDEX_BYTES
    files: dict[str, SyncedFile] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)  # index lines that limpet wrote, hashed: file -> line
    # The index's files, and what the store's ledger said, when both sides were last alike: as long as that stays (until
    # a time at which something begins or ceases to hold) there is nothing to do.
    index: dict[str, Mark] = field(default_factory=dict)
    ledger: str = ""
    alike: tuple[int, int] = (0, 0)  # from, until


def load(root: Path) -> SyncState | None:
    """None when the folder is no mirror. Raises BadInput for a base that is not ours or not whole."""
    path = root / OWN / STATE
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise BadInput(f"{path} is a link, or no file")
        raw = json.loads(path.read_bytes())
        if raw["version"] != VERSION:
            raise BadInput(f"{path} is of version {raw['version']!r}", hint="a newer limpet wrote it")
        return _base(raw)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadInput(
            f"{path} is damaged", hint=f"remove {path} and run `limpet mirror init {root}`: entries keep their marks"
        ) from None


def _base(raw: dict[str, Any]) -> SyncState:
    files = {
        str(name): SyncedFile(
            mark=_mark(mark), group=str(group), front=str(front), whole=str(whole),
            entries=[SyncedEntry(str(id), str(file), str(store)) for id, file, store in entries],
            repeats=[str(text) for text in repeats],
            refused={str(text): (int(line), str(why)) for text, (line, why) in refused.items()},
        )
        for name, (mark, group, front, entries, repeats, refused, whole) in raw["files"].items()
    }  # fmt: skip
    start, end = raw["alike"]
    return SyncState(
        store=str(raw["store"]), scopes=tuple(check_scope(one) for one in raw["scopes"]), files=files,
        author=check_origin(raw["author"]), index_bytes=max(LEAST_INDEX_BYTES, int(raw["index_bytes"])),
        lines={str(name): str(line) for name, line in raw["lines"].items()}, ledger=str(raw["ledger"]),
        index={str(name): _mark(mark) for name, mark in raw["index"].items()}, alike=(int(start), int(end)),
    )  # fmt: skip


def _mark(raw: Any) -> Mark:
    modified, size, inode = raw
    return int(modified), int(size), int(inode)


def save(root: Path, base: SyncState) -> None:
    """Replace the base, when it changed. Raises StoreError."""
    path = root / OWN / STATE
    names = ("store", "scopes", "author", "index_bytes", "lines", "index", "ledger", "alike")
    shown = {"version": VERSION} | {name: getattr(base, name) for name in names}
    shown["files"] = {
        name: [one.mark, one.group, one.front, one.entries, one.repeats, one.refused, one.whole]
        for name, one in sorted(base.files.items())
    }
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    with writing(path):
        if path.is_file() and path.read_bytes() == text:
            return
        with partial_file(path.with_suffix(".partial")) as file:
            file.write(text)
            publish(file, path, force=True)


COUNTS = ("created", "edited", "archived", "restored", "tagged", "conflicts", "added", "updated", "removed")


@dataclass(slots=True, kw_only=True)
class MirrorReport(JsonForm):
    """Counts are of memories. `left`: (place, reason) of what was left as it is in the folder."""

    folder: str
    scope: str
    # from the folder into the store
    created: int = 0
    edited: int = 0
    archived: int = 0
    restored: int = 0
    tagged: int = 0
    conflicts: int = 0
    # from the store into the folder
    added: int = 0
    updated: int = 0
    removed: int = 0
    files: list[str] = field(default_factory=list)  # written or removed, sorted
    left: list[tuple[str, str]] = field(default_factory=list, metadata=PLACES)

    @property
    def changed(self) -> bool:
        """Whether anything was done, on either side."""
        return bool(self.files) or any(getattr(self, name) for name in COUNTS)
