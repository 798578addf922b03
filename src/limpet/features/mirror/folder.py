"""The files of a folder of memories: read, and replaced by atomic renames. A mirror has one with the hashes of the last
sync. Nothing outside of the folder is touched."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import Path

from ... import folders
from ...model.dataclass import dataclass, field
from ...model.encode import JsonForm, rows
from ...model.errors import BadInput, StoreBusy, StoreError
from ...model.memory import check_origin, check_scope
from ...store.files import partial_file, publish, write_own, writing
from ..transfer.markdown import MAX_FILE_BYTES, MAX_FILES
from . import OWN, STATE
from .reconcile import Synced

VERSION = 3
INDEX = "MEMORY.md"
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)


def folded(name: str) -> str:
    """Return a name's form that is equal for names which some file system takes for the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def open_root(path: Path, *, make: bool) -> Path:
    """Open the folder and make limpet's own folder in it. Raises BadInput, StoreError."""
    try:
        if make:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        root = path.resolve(strict=True)
        if not root.is_dir():
            raise BadInput(f"{path} is no folder")
        own = root / OWN
        if own.is_symlink() or (own.exists() and not own.is_dir()):
            raise BadInput(f"{own} is not a folder of limpet's", hint="remove it, and try again")
        if make:
            own.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        raise BadInput(f"no folder {path}", hint="limpet mirror init DIR") from None
    except OSError as error:
        raise StoreError(f"cannot use {path}: {error.strerror}") from None
    return root


@contextlib.contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold the folder's lock: one sync at a time. Raises StoreBusy."""
    with folders.locked(str(root / OWN / "lock")) as free:
        if not free:
            raise StoreBusy(f"another process syncs {root}", hint="try again in a moment")
        yield


def names(root: Path) -> list[str]:
    """Return the names of the folder's Markdown files, sorted. Raises BadInput, StoreError."""
    try:
        names = [name for name in os.listdir(root) if name.lower().endswith(".md") and not name.startswith(".")]  # noqa: PTH208
    except OSError as error:
        raise StoreError(f"cannot read {root}: {error.strerror}") from None
    if len(names) > MAX_FILES:
        raise BadInput(f"{root} holds more than {MAX_FILES:,} Markdown files")
    return sorted(names)


def read(root: Path, name: str) -> tuple[str | None, str | None]:
    """Return (text, problem) of a file; a half-written file is a problem of this time only."""
    try:
        before = (root / name).lstat()
        if stat.S_ISLNK(before.st_mode):
            return None, "a link of the file system is not followed"
        if not stat.S_ISREG(before.st_mode):
            return None, "not a file"
        if before.st_size > MAX_FILE_BYTES:
            return None, f"{before.st_size:,} bytes, {MAX_FILE_BYTES:,} at most"
        name.encode("utf-8")
        number = os.open(root / name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(number, "rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
            after = os.fstat(number)
    except OSError as error:
        return None, f"cannot be read: {error.strerror}"
    except UnicodeEncodeError:
        return None, "its name is not valid UTF-8"
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size) or len(raw) != after.st_size:
        return None, "is being written"
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return None, f"not UTF-8: byte {error.start} {error.reason}"
    if "\0" in text:
        return None, "holds NUL characters: not text, or half written"
    return text, None


def write(root: Path, name: str, text: str, known: str | None, *, mode: int = 0o600) -> bool:
    """Replace a file whose text is still `known`, or make one (None) with a mode. Return False if somebody else was
    first. Raises StoreError."""
    target = root / name
    with writing(target), partial_file(root / folders.partial_name()) as file:
        file.write(text.encode("utf-8"))
        if known is None:
            if os.path.lexists(target):
                return False
        else:
            if read(root, name)[0] != known:
                return False
            mode = stat.S_IMODE(target.stat().st_mode)
        Path(file.name).chmod(mode)
        publish(file, target, force=True)
    return True


def take_away(root: Path, name: str, known: str) -> bool:
    """Remove a file whose text is still `known`. Return False for one that was changed. Raises StoreError."""
    if read(root, name)[0] != known:
        return False
    try:
        (root / name).unlink()
    except OSError as error:
        raise StoreError(f"cannot remove {root / name}: {error.strerror}") from None
    return True


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return a free name for a topic's file, without .md: lower case, letters and digits of any script."""
    plain = unicodedata.normalize("NFKC", wanted).casefold()
    slug = re.sub(r"[^\w]+", "-", plain).strip("-_")[:60].strip("-_") or "topic"
    while len(slug.encode()) > 120:
        slug = slug[:-1]
    if _RESERVED.fullmatch(slug):
        slug += "-topic"
    number, name = 1, slug
    while folded(f"{name}.md") in taken or folded(f"{name}.md") == folded(INDEX):
        number += 1
        name = f"{slug}-{number}"
    return name


# -- what both sides said at the last sync


@dataclass(slots=True, kw_only=True)
class SyncState:
    """The mirror's settings, and every entry at the last sync."""

    store: str
    scope: str
    author: str = "user"  # the origin of what files say, unless a file names another
    entries: dict[str, Synced] = field(default_factory=dict)  # by the id of the memory
    # Texts that are no memory of their own: file -> hash -> (line, why; "": another file has them too). They stay in
    # the file, and are not judged again.
    refused: dict[str, dict[str, tuple[int, str]]] = field(default_factory=dict)


def load(root: Path) -> SyncState | None:
    """Load the base; None when the folder is no mirror. Raises BadInput for a base that is not ours or not whole."""
    path = root / OWN / STATE
    anew = f"remove {path} and run `limpet mirror init {root}`: entries keep their marks"
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise BadInput(f"{path} is a link, or no file")
        raw = json.loads(path.read_bytes())
        if raw["version"] != VERSION:
            raise BadInput(f"{path} is of version {raw['version']!r}, not {VERSION}", hint=anew)
        return SyncState(
            store=str(raw["store"]), scope=check_scope(raw["scope"]), author=check_origin(raw["author"]),
            entries={str(id): Synced(*entry) for id, entry in raw["entries"].items()},
            refused={
                name: {text: (int(line), str(why)) for text, (line, why) in texts.items()}
                for name, texts in raw["refused"].items()
            },
        )  # fmt: skip
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
        raise BadInput(f"{path} is damaged", hint=anew) from None


def save(root: Path, base: SyncState) -> None:
    """Replace the base, when it changed. Raises StoreError."""
    path = root / OWN / STATE
    shown = {name: getattr(base, name) for name in ("store", "scope", "author", "entries", "refused")}
    text = json.dumps(shown | {"version": VERSION}, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    with writing(path):
        if not path.is_file() or path.read_bytes() != text:
            write_own(path, text)


@dataclass(slots=True, kw_only=True)
class MirrorReport(JsonForm):
    """The report of a sync. Counts are of memories. `left`: (place, reason) of what stays unchanged in the folder."""

    folder: str
    scope: str
    # from the folder into the store
    created: int = 0
    edited: int = 0
    archived: int = 0
    restored: int = 0
    conflicts: int = 0
    # from the store into the folder
    added: int = 0
    updated: int = 0
    removed: int = 0
    files: list[str] = field(default_factory=list)  # written or removed, sorted
    left: list[tuple[str, str]] = field(default_factory=list, metadata=rows("place", "reason"))

    @property
    def changed(self) -> bool:
        """True if the sync changed anything, on either side."""
        return any((self.files, self.created, self.edited, self.archived, self.restored, self.conflicts))
