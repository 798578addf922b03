"""From a client's parts to changed files: read everything, work everything out, and only then write.

The backup beside a file is what it was before limpet. Uninstalling takes limpet's parts out of the file as it is; when
that is what taking them out of `backup + limpet` gives, nobody changed anything else, and the backup itself comes back.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ...model.errors import BadInput, StoreError
from . import jsonc, toml
from .entries import inner_of, is_address, is_ours, merged

BEGIN, END = "<!-- limpet: begin -->", "<!-- limpet: end -->"
BACKUP = ".before-limpet"
# A settings file is never as large as this.
MAX_BYTES = 64_000_000


class Part:
    """What limpet adds to one file."""

    what: str
    whole = False  # the file is limpet's own
    mode: int | None = None

    def __init__(self, path: Path) -> None:
        self.path = path

    def found(self, text: str) -> Any:
        """What of it stands in a text, in the form that limpet would write; None for nothing."""
        raise NotImplementedError

    def put(self, text: str) -> str:
        raise NotImplementedError

    def cut(self, text: str, origin: str, /) -> str:
        """Without it. `origin`: the file before limpet, "" where that is not known."""
        raise NotImplementedError


class Entry(Part):
    """The server's entry, an object at a path of names such as mcpServers.limpet, in JSON or TOML."""

    what = "MCP server"

    def __init__(self, path: Path, keys: Sequence[str], value: dict[str, Any], *, is_trusted: bool) -> None:
        super().__init__(path)
        self.keys, self.value, self.is_trusted = tuple(keys), value, is_trusted
        self._edit: ModuleType = toml if path.suffix == ".toml" else jsonc

    def found(self, text: str) -> Any:
        return self._edit.get(_json(text) if self._edit is jsonc else text, self.keys)

    def put(self, text: str) -> str:
        text = _json(text) if self._edit is jsonc else text
        there = self.found(text)
        if not isinstance(there, dict):
            return str(self._edit.put(text, self.keys, self.value))
        wanted = merged(there, self.value, is_trusted=self.is_trusted)
        for name in there.keys() - wanted.keys():
            text = self._edit.cut(text, (*self.keys, name))
        for name, value in wanted.items():
            if name not in there or there[name] != value:
                text = self._edit.put(text, (*self.keys, name), value)
        return text

    def cut(self, text: str, origin: str) -> str:
        there = self.found(text)
        if isinstance(there, dict) and is_address(there):
            return text  # its owner's: limpet writes none
        text = self._edit.cut(text, self.keys)
        return _bare(text, self.keys[:-1], origin) if self._edit is jsonc else text


class Permission(Part):
    """A text in a list, such as a rule in permissions.allow. It goes with limpet, unless it was there before it."""

    what = "permission"

    def __init__(self, path: Path, keys: Sequence[str], item: str) -> None:
        super().__init__(path)
        self.keys, self.item = keys, item

    def found(self, text: str) -> Any:
        items = jsonc.get(_json(text), self.keys)
        return self.item if isinstance(items, list) and self.item in items else None

    def put(self, text: str) -> str:
        return text if self.found(text) else jsonc.append(_json(text), self.keys, self.item)

    def cut(self, text: str, origin: str) -> str:
        if self.found(origin):
            return text
        return _bare(jsonc.cut(text, self.keys, lambda one: one == self.item), self.keys, origin)


class Hooks(Part):
    """Entries of the lists under `hooks`, told from others' by their command. `defaults`: what the file must have."""

    what = "hooks"

    def __init__(self, path: Path, events: dict[str, Any], defaults: dict[str, Any] | None = None) -> None:
        super().__init__(path)
        self.events, self.defaults = events, defaults or {}

    def found(self, text: str) -> Any:
        """By event: the entry there is, or a list of several."""
        found = {}
        for event, entries in _hooks(text).items():
            every = entries if isinstance(entries, list) else []
            ours = [one for one in every if is_ours(one) or any(map(is_ours, inner_of(one)))]
            if ours:
                found[event] = ours[0] if len(ours) == 1 else ours
        return found or None

    def put(self, text: str) -> str:
        text = _json(text)
        if self.found(text) == self.events:
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
            left = _bare(left, ("hooks", event), origin)
        rest, before = jsonc.parse(left), jsonc.parse(_json(origin))
        for name in self.defaults:
            if name not in before and not rest.get("hooks") and (origin or len(rest) == 1):
                left = jsonc.cut(left, (name,))
        return left

    def _without(self, text: str) -> str:
        for event in _hooks(text):
            text = jsonc.cut(text, ("hooks", event), is_ours)
            node = jsonc.find(jsonc.read(text), ("hooks", event))
            for place in range(len(node.children) if node is not None else 0):
                # A group in which others have hooks too.
                text = jsonc.cut(text, ("hooks", event, place, "hooks"), is_ours)
        return text


class Block(Part):
    """A block of instructions at the end of a Markdown file that belongs to someone else."""

    what = "instructions"

    def __init__(self, path: Path, body: str) -> None:
        super().__init__(path)
        self.body = body

    def found(self, text: str) -> Any:
        if BEGIN not in text and END not in text:
            return None
        start = text.find(BEGIN)
        end = text.find(END, max(start, 0))
        if start < 0 or end < 0 or text.count(BEGIN) != 1 or text.count(END) != 1:
            raise jsonc.NotJson(f"{BEGIN} and {END} do not stand in it once each, in this order")
        return start, end + len(END)

    def put(self, text: str) -> str:
        place = self.found(text)
        # Of the block itself where there is one: a lone CR before it makes a CRLF of its first empty line.
        line_end = "\r\n" if "\r\n" in (text[place[0] : place[1]] if place else text) else "\n"
        block = f"{BEGIN}\n{self.body.strip()}\n{END}".replace("\n", line_end)
        if place:
            return text[: place[0]] + block + text[place[1] :]
        gap = "" if not text else line_end if text.endswith("\n") else line_end * 2
        return text + gap + block + line_end

    def cut(self, text: str, _origin: str, /) -> str:
        """Without the block, and without the empty line that parted it."""
        place = self.found(text)
        if not place:
            return text
        head, rest = text[: place[0]], text[place[1] :]
        rest = rest.removeprefix("\r\n" if rest.startswith("\r\n") else "\n")
        if head.endswith(("\n\n", "\r\n\r\n")):
            head = head.removesuffix("\n").removesuffix("\r")
        return head + rest


class OwnFile(Part):
    """A file that is limpet's alone, told by `mark`; one of somebody else is left alone."""

    whole = True

    def __init__(self, path: Path, what: str, body: str, *, mark: str, mode: int | None = None) -> None:
        super().__init__(path)
        self.what, self.body, self.mark, self.mode = what, body, mark, mode

    def found(self, text: str) -> Any:
        return text if self.mark in text else None

    def put(self, text: str) -> str:
        if text and self.mark not in text:
            raise jsonc.NotJson("it is there already, and not limpet's")
        return self.body

    def cut(self, _text: str, _origin: str, /) -> str:
        return ""


class Change(NamedTuple):
    """What happens to one file. `after` None: it goes. `backup`: what to put beside it before that."""

    path: Path
    what: str
    action: str  # create, change, restore, remove, keep
    before: bytes | None
    after: bytes | None
    backup: bytes | None = None
    drop_backup: bool = False
    mode: int | None = None


def plan_install(parts: Sequence[Part]) -> list[Change]:
    """What to write so that all parts are there. Raises BadInput for a file that cannot be read. Changes nothing."""
    return [_installed(path, parts) for path, parts in _by_file(parts)]


def plan_uninstall(parts: Sequence[Part]) -> list[Change]:
    return [_uninstalled(path, parts) for path, parts in _by_file(parts)]


def present(parts: Sequence[Part]) -> list[tuple[Part, Any]]:
    """Each part with what of it stands in its file, or None. Raises BadInput for a file that cannot be read."""
    found = []
    for part in parts:
        with _reading(part.path) as (_, text):
            found.append((part, part.found(text)))
    return found


def apply(changes: Sequence[Change], root: Path) -> None:
    """Carry a plan out, backups first. What cannot be done whole is taken back, and a file that changed since it was
    read is left alone. Raises StoreError."""
    for one in changes:
        if one.action != "keep" and read(one.path) != one.before:
            raise StoreError(f"{one.path} changed just now", hint="run the command again")
    done: list[Change] = []
    try:
        for one in changes:
            done.append(one)
            if one.backup is not None:
                write(backup_of(one.path), one.backup, like=one.path)
            if one.after is None and one.before is not None:
                delete(one.path, root)
            elif one.after is not None and one.action != "keep":
                write(one.path, one.after, mode=one.mode)
    except StoreError:
        for one in reversed(done):
            with contextlib.suppress(StoreError):
                _take_back(one, root)
        raise
    for one in changes:
        if one.drop_backup:
            delete(backup_of(one.path), root)


def _take_back(one: Change, root: Path) -> None:
    if read(one.path) != one.before:
        if one.before is None:
            delete(one.path, root)
        else:
            write(one.path, one.before, mode=one.mode)
    if one.backup is not None:
        delete(backup_of(one.path), root)


def _installed(path: Path, parts: Sequence[Part]) -> Change:
    what = ", ".join(part.what for part in parts)
    with _reading(path) as (before, text):
        is_here = _is_here(text, parts)
        new = _put_all(text, parts)
    backup = None if is_here or parts[0].whole else before
    if before is not None and new == text:
        return Change(path, what, "keep", before, before, backup)
    action = "create" if before is None else "change"
    return Change(path, what, action, before, new.encode("utf-8"), backup, mode=parts[0].mode)


def _uninstalled(path: Path, parts: Sequence[Part]) -> Change:
    what, saved = ", ".join(part.what for part in parts), read(backup_of(path))
    with _reading(path) as (before, text):
        if before is None or (saved is None and not _is_here(text, parts)):
            return Change(path, what, "keep", before, before, drop_backup=saved is not None)
        if parts[0].whole:
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
    """Whether limpet stands in a text. A rule that stands there without limpet's hooks is its writer's."""
    return any(part.found(text) is not None for part in parts if not isinstance(part, Permission))


def _by_file(parts: Sequence[Part]) -> list[tuple[Path, list[Part]]]:
    found: dict[Path, list[Part]] = {}
    for part in parts:
        found.setdefault(part.path, []).append(part)
    return list(found.items())


def _put_all(text: str, parts: Sequence[Part]) -> str:
    for part in parts:
        text = part.put(text)
    return text


def _cut_all(text: str, parts: Sequence[Part], origin: str) -> str:
    for part in reversed(parts):
        text = part.cut(text, origin)
    return text


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[tuple[bytes | None, str]]:
    """A file's bytes and text. What cannot be read, or edited, becomes bad input that names the file."""
    data = read(path)
    try:
        yield data, "" if data is None else data.decode("utf-8")
    except (jsonc.NotJson, toml.NotToml, UnicodeDecodeError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise BadInput(
            f"{path} cannot be edited: {why}", hint="nothing was changed; mend the file, then try again"
        ) from None


# -- JSON, in more detail


def _json(text: str) -> str:
    """A file without content counts as an empty object."""
    return text if text.strip("\ufeff \t\r\n") else text.rstrip(" \t\r\n") + "{}\n"


def _hooks(text: str) -> dict[str, Any]:
    hooks = jsonc.get(_json(text), ("hooks",))
    return hooks if isinstance(hooks, dict) else {}


def _bare(text: str, keys: Sequence[str], origin: str) -> str:
    """Without the containers along a path that are empty now and were not there before limpet."""
    for length in range(len(keys), 0, -1):
        if jsonc.get(text, keys[:length]) in ({}, []) and jsonc.get(_json(origin), keys[:length]) is None:
            text = jsonc.cut(text, keys[:length])
    return text


# -- other programs' files: whole, atomic, with their mode, through links


def read(path: Path) -> bytes | None:
    """The bytes of a file; None when there is none. Raises BadInput for what is no file, StoreError for no access."""
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


def write(path: Path, data: bytes, *, like: Path | None = None, mode: int | None = None) -> None:
    """Replace a file by one with this content, in one step. A link stays, and what it leads to is replaced.

    The mode is that of the file that was there, else that of `like`, else `mode`, else the usual one.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        kept = next((one.stat() for one in (target, like) if one is not None and one.exists()), None)
        number, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".tmp", dir=target.parent)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if kept is not None:
                _own_alike(name, kept)
                Path(name).chmod(stat.S_IMODE(kept.st_mode))
            else:
                Path(name).chmod(mode if mode is not None else 0o666 & ~_umask())
            Path(name).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}", hint="nothing of it was changed") from None


def delete(path: Path, root: Path) -> None:
    """Remove a file, and the folders that it leaves empty, up to `root`."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot remove {path}: {error.strerror}") from None
    for folder in path.parents:
        if folder == root or root not in folder.parents:
            return
        try:
            folder.rmdir()
        except OSError:
            return


def backup_of(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def _own_alike(name: str, kept: os.stat_result) -> None:
    """Root that edits a user's file leaves it the user's."""
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(name, kept.st_uid, kept.st_gid)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
