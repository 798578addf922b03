"""From a client's parts to changed files: read everything, work everything out, and only then write.

The backup beside a file holds the file before limpet. Uninstalling removes limpet's parts from the present file; if
removing them from `backup + limpet` gives the same, nobody changed anything else, and the backup itself is restored.

A part is an addition of limpet to one file. `entry_in` returns the part found in a text, as limpet would write it, or
None; `put` the text with it; `cut` the text without it, where `origin` is the file before limpet, "" if unknown.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ...model.dataclass import dataclass
from ...model.errors import BadInput, StoreError
from ...store.files import partial_file, publish, unguessable, writing
from . import jsonc, toml
from .entries import inner_of, is_address, is_ours, merged

BEGIN, END = "<!-- limpet: begin -->", "<!-- limpet: end -->"
BACKUP = ".before-limpet"
# A settings file is never as large as this.
MAX_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """The server's entry, an object at a path of names such as mcpServers.limpet, in JSON or TOML."""

    path: Path
    keys: tuple[str, ...]
    value: dict[str, Any]
    is_trusted: bool
    what = "MCP server"

    @property
    def _format(self) -> ModuleType:
        return toml if self.path.suffix == ".toml" else jsonc

    def entry_in(self, text: str) -> Any:
        return self._format.get(text, self.keys)

    def put(self, text: str) -> str:
        there = self.entry_in(text)
        if not isinstance(there, dict):
            return str(self._format.put(text, self.keys, self.value))
        wanted = merged(there, self.value, is_trusted=self.is_trusted)
        for name in there.keys() - wanted.keys():
            text = self._format.cut(text, (*self.keys, name))
        for name, value in wanted.items():
            text = self._format.put(text, (*self.keys, name), value)
        return text

    def cut(self, text: str, origin: str) -> str:
        there = self.entry_in(text)
        if isinstance(there, dict) and is_address(there):
            return text  # its owner's: limpet writes none
        return _without_empty(self._format, self._format.cut(text, self.keys), self.keys[:-1], origin)


@dataclass(frozen=True, slots=True)
class Permission:
    """A text in a list, such as a rule in permissions.allow. It goes with limpet, unless it was there before it."""

    path: Path
    keys: tuple[str, ...]
    item: str
    what = "permission"

    def entry_in(self, text: str) -> Any:
        items = jsonc.get(text, self.keys)
        return self.item if isinstance(items, list) and self.item in items else None

    def put(self, text: str) -> str:
        return text if self.entry_in(text) else jsonc.append(text, self.keys, self.item)

    def cut(self, text: str, origin: str) -> str:
        if self.entry_in(origin):
            return text
        return _without_empty(jsonc, jsonc.cut(text, self.keys, lambda item: item == self.item), self.keys, origin)


@dataclass(frozen=True, slots=True)
class Hooks:
    """Entries of the lists under `hooks`, recognised by their command. `defaults`: what the file must have."""

    path: Path
    events: dict[str, Any]
    defaults: Mapping[str, Any]
    what = "hooks"

    def entry_in(self, text: str) -> Any:
        """Return by event the present entry, or a list of several."""
        by_event = {}
        for event, entries in _hooks(text).items():
            every = entries if isinstance(entries, list) else []
            ours = [entry for entry in every if is_ours(entry) or any(map(is_ours, inner_of(entry)))]
            if ours:
                by_event[event] = ours[0] if len(ours) == 1 else ours
        return by_event or None

    def put(self, text: str) -> str:
        if self.entry_in(text) == self.events:
            return text
        text = self._without(text)
        for name, value in self.defaults.items():
            if jsonc.get(text, (name,)) is None:
                text = jsonc.put(text, (name,), value)
        for event, entry in self.events.items():
            text = jsonc.append(text, ("hooks", event), entry)
        return text

    def cut(self, text: str, origin: str) -> str:
        left = self._without(text)
        for event in _hooks(text):
            left = _without_empty(jsonc, left, ("hooks", event), origin)
        for name in self.defaults if not _hooks(left) else ():
            if jsonc.get(origin, (name,)) is None:
                left = jsonc.cut(left, (name,))
        return left

    def _without(self, text: str) -> str:
        for event in _hooks(text):
            text = jsonc.cut(text, ("hooks", event), is_ours)
            groups = jsonc.get(text, ("hooks", event))
            for place in range(len(groups) if isinstance(groups, list) else 0):
                # A group in which others have hooks too.
                text = jsonc.cut(text, ("hooks", event, place, "hooks"), is_ours)
        return text


@dataclass(frozen=True, slots=True)
class Block:
    """A block of instructions at the end of a Markdown file that belongs to someone else."""

    path: Path
    body: str
    what = "instructions"

    def entry_in(self, text: str) -> Any:
        if BEGIN not in text and END not in text:
            return None
        if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(END) < text.index(BEGIN):
            raise jsonc.Unreadable(f"{BEGIN} and {END} do not stand in it once each, in this order")
        return text.index(BEGIN), text.index(END) + len(END)

    def put(self, text: str) -> str:
        place = self.entry_in(text)
        # The block's own line end if there is one: a lone CR before it makes a CRLF of its first empty line.
        line_end = "\r\n" if "\r\n" in (text[place[0] : place[1]] if place else text) else "\n"
        block = f"{BEGIN}\n{self.body.strip()}\n{END}".replace("\n", line_end)
        if place:
            return text[: place[0]] + block + text[place[1] :]
        gap = "" if not text else line_end if text.endswith("\n") else line_end * 2
        return text + gap + block + line_end

    def cut(self, text: str, origin: str) -> str:  # noqa: ARG002
        """Return the text without the block, and without the empty line that parted it."""
        place = self.entry_in(text)
        if not place:
            return text
        head, rest = text[: place[0]], text[place[1] :]
        rest = rest.removeprefix("\r\n" if rest.startswith("\r\n") else "\n")
        if head.endswith(("\n\n", "\r\n\r\n")):
            head = head.removesuffix("\n").removesuffix("\r")
        return head + rest


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is limpet's alone, told by `mark`; one of somebody else is left alone."""

    path: Path
    what: str
    body: str
    mark: str
    is_program: bool = False

    def entry_in(self, text: str) -> Any:
        return text if self.mark in text else None

    def put(self, text: str) -> str:
        if text and self.mark not in text:
            raise jsonc.Unreadable("it is there already, and not limpet's")
        return self.body

    def cut(self, text: str, origin: str) -> str:  # noqa: ARG002
        return ""


Part = Entry | Permission | Hooks | Block | OwnFile


class Change(NamedTuple):
    """A change of one file. `after` None: delete it. `backup`: the text to store beside it first."""

    path: Path
    what: str
    action: str  # create, change, restore, remove, keep
    before: bytes | None
    after: bytes | None
    backup: bytes | None = None
    drop_backup: bool = False
    is_program: bool = False


def plan_install(parts: Sequence[Part]) -> list[Change]:
    """Return the changes that add all parts; write nothing. Raises BadInput for an unreadable file."""
    changes = []
    for path, of_file in _by_file(parts).items():
        what, is_program = ", ".join(part.what for part in of_file), getattr(of_file[0], "is_program", False)
        with _reading(path) as (before, text):
            is_here = _is_here(text, of_file)
            new = _put_all(text, of_file)
        backup = None if is_here or isinstance(of_file[0], OwnFile) else before
        if before is not None and new == text:
            changes.append(Change(path, what, "keep", before, before, backup))
        else:
            action, after = "create" if before is None else "change", new.encode("utf-8")
            changes.append(Change(path, what, action, before, after, backup, is_program=is_program))
    return changes


def plan_uninstall(parts: Sequence[Part]) -> list[Change]:
    """Return the changes that remove all parts; write nothing. Raises BadInput for an unreadable file."""
    return [_uninstalled(path, of_file) for path, of_file in _by_file(parts).items()]


def present(parts: Sequence[Part]) -> list[tuple[Part, Any]]:
    """Return each part with its entry in the file, or None. Raises BadInput for an unreadable file."""
    entries = []
    for part in parts:
        with _reading(part.path) as (_, text):
            entries.append((part, part.entry_in(text)))
    return entries


def apply(changes: Sequence[Change], root: Path) -> None:
    """Carry a plan out, backups first; take it back if a change fails. A file that changed since it was read is left
    alone. Raises StoreError."""
    for change in changes:
        if change.action != "keep" and read(change.path) != change.before:
            raise StoreError(f"{change.path} changed just now", hint="run the command again")
    done: list[Change] = []
    try:
        for change in changes:
            done.append(change)
            if change.backup is not None:
                write(backup_of(change.path), change.backup, root, like=change.path)
            if change.action != "keep":
                write(change.path, change.after, root, is_program=change.is_program)
    except StoreError:
        for change in reversed(done):
            with contextlib.suppress(StoreError):
                if read(change.path) != change.before:
                    write(change.path, change.before, root, is_program=change.is_program)
                if change.backup is not None:
                    write(backup_of(change.path), None, root)
        raise
    for change in changes:
        if change.drop_backup:
            write(backup_of(change.path), None, root)


def _uninstalled(path: Path, parts: Sequence[Part]) -> Change:
    what, saved = ", ".join(part.what for part in parts), read(backup_of(path))
    with _reading(path) as (before, text):
        if before is None or (saved is None and not _is_here(text, parts)):
            return Change(path, what, "keep", before, before, drop_backup=saved is not None)
        if isinstance(parts[0], OwnFile):
            return Change(path, what, "remove", before, None)
        origin = "" if saved is None else saved.decode("utf-8")
        left = _cut_all(text, parts, origin)
        is_untouched = left == _cut_all(_put_all(origin, parts), parts, origin)
    if saved is not None and is_untouched:
        return Change(path, what, "restore", before, saved, drop_backup=True)
    if saved is None and (is_untouched or left.strip() in ("", "{}")):
        return Change(path, what, "remove", before, None)
    return Change(path, what, "change", before, left.encode("utf-8"), drop_backup=True)


def _is_here(text: str, parts: Sequence[Part]) -> bool:
    """Return whether a text has a part of limpet's. A permission alone does not count: its user may have written it."""
    return any(part.entry_in(text) is not None for part in parts if not isinstance(part, Permission))


def _by_file(parts: Sequence[Part]) -> dict[Path, list[Part]]:
    by_file: dict[Path, list[Part]] = {}
    for part in parts:
        by_file.setdefault(part.path, []).append(part)
    return by_file


def _put_all(text: str, parts: Sequence[Part]) -> str:
    for part in parts:
        text = part.put(text)
    return text


def _cut_all(text: str, parts: Sequence[Part], origin: str) -> str:
    for part in reversed(parts):
        text = part.cut(text, origin)
    return text


def _hooks(text: str) -> dict[str, Any]:
    hooks = jsonc.get(text, ("hooks",))
    return hooks if isinstance(hooks, dict) else {}


def _without_empty(format: ModuleType, text: str, keys: Sequence[str], origin: str) -> str:
    """Leave out the containers along a path that are empty now and were not there before limpet."""
    for length in range(len(keys), 0, -1):
        if format.get(text, keys[:length]) in ({}, []) and format.get(origin, keys[:length]) is None:
            text = format.cut(text, keys[:length])
    return text


# -- other programs' files: whole, atomic, with their mode, through links


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[tuple[bytes | None, str]]:
    """Yield a file's bytes and text. What cannot be read, or edited, becomes bad input that names the file."""
    data = read(path)
    try:
        yield data, "" if data is None else data.decode("utf-8")
    except (jsonc.Unreadable, UnicodeDecodeError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise BadInput(
            f"{path} cannot be edited: {why}", hint="nothing was changed; mend the file, then try again"
        ) from None


def read(path: Path) -> bytes | None:
    """Return the bytes of a file; None when there is none. Raises BadInput for what is no file, StoreError."""
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{path} is not a file", hint="it was left alone")
        if path.is_file() and path.stat().st_size > MAX_BYTES:
            raise BadInput(f"{path} is too large to be a settings file", hint="it was left alone")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None


def write(path: Path, data: bytes | None, root: Path, *, like: Path | None = None, is_program: bool = False) -> None:
    """Replace a file in one step, through links; for None remove it, and the folders that it leaves empty, up to
    `root`.

    Mode and owner are those of the file that was there, else of `like`. Raises StoreError.
    """
    with writing(path):
        if data is None:
            path.unlink(missing_ok=True)
            for folder in path.parents:
                if root not in folder.parents or any(folder.iterdir()):
                    return
                folder.rmdir()
            return
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        kept = next((place.stat() for place in (target, like) if place is not None and place.exists()), None)
        with partial_file(unguessable(target.parent)) as file:
            file.write(data)
            if kept is None:
                mask = os.umask(0o077)
                os.umask(mask)
                Path(file.name).chmod((0o777 if is_program else 0o666) & ~mask)
            else:
                with contextlib.suppress(OSError, AttributeError):  # root that edits a user's file leaves it the user's
                    os.chown(file.name, kept.st_uid, kept.st_gid)
                Path(file.name).chmod(stat.S_IMODE(kept.st_mode))
            publish(file, target, force=True)


def backup_of(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)
