"""The sync state of a mirror: what file and store said when they last agreed, as hashes. One JSON file in its
folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from ...model.dataclass import dataclass, field
from ...model.errors import BadInput, StoreError
from ...model.memory import check_origin, check_scope
from ...store.files import partial_file, publish, writing
from .folder import OWN, Mark

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
    about: str = ""  # the description that limpet wrote; another one is a person's
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
    path = root / OWN / "mirror.json"
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
            mark=_mark(one[0]),
            group=str(one[1]),
            whole=str(one[7]),
            front=str(one[2]),
            about=str(one[3]),
            entries=[SyncedEntry(str(id), str(file), str(store)) for id, file, store in one[4]],
            repeats=[str(mark) for mark in one[5]],
            refused={str(mark): (int(line), str(why)) for mark, (line, why) in one[6].items()},
        )
        for name, one in raw["files"].items()
    }
    return SyncState(
        store=str(raw["store"]),
        scopes=tuple(check_scope(one) for one in raw["scopes"]),
        author=check_origin(raw["author"]),
        index_bytes=max(LEAST_INDEX_BYTES, int(raw["index_bytes"])),
        files=files,
        lines={str(name): str(line) for name, line in raw["lines"].items()},
        index={str(name): _mark(mark) for name, mark in raw["index"].items()},
        ledger=str(raw["ledger"]),
        alike=(int(raw["alike"][0]), int(raw["alike"][1])),
    )


def _mark(raw: Any) -> Mark:
    return int(raw[0]), int(raw[1]), int(raw[2])


def dump(base: SyncState) -> str:
    """The JSON form."""
    shown = {
        "version": VERSION,
        "store": base.store,
        "scopes": base.scopes,
        "author": base.author,
        "index_bytes": base.index_bytes,
        "lines": base.lines,
        "index": base.index,
        "ledger": base.ledger,
        "alike": base.alike,
        "files": {
            name: [one.mark, one.group, one.front, one.about, one.entries, one.repeats, one.refused, one.whole]
            for name, one in sorted(base.files.items())
        },
    }
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))


def save(root: Path, base: SyncState) -> None:
    """Replace the base, when it changed. Raises StoreError."""
    path = root / OWN / "mirror.json"
    text = dump(base).encode("utf-8")
    with writing(path):
        if path.is_file() and path.read_bytes() == text:
            return
        with partial_file(path.with_suffix(".partial")) as file:
            file.write(text)
            publish(file, path, force=True)
