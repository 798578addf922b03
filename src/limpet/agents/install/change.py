"""From a client's parts to changed files: read everything, work everything out, and only then write.

The backup beside a file is what it was before limpet. Uninstalling takes limpet's parts out of the file as it is; when
that is what taking them out of `backup + limpet` gives, nobody changed anything else, and the backup itself comes back.
Else what somebody had written for limpet by hand, which the backup holds too, is put back where limpet's parts were.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...model.errors import BadInput, StoreError
from . import entries, files, jsonc, markdown, toml
from .entries import inner_of, is_ours

Unreadable = (jsonc.NotJson, toml.NotToml, markdown.NotWhole)


class Part(NamedTuple):
    """What limpet adds to one file. `cut` also gets what was there before limpet, None when that is not known."""

    path: Path
    what: str
    put: Callable[[str], str]
    cut: Callable[[str, str | None], str]
    held: Callable[[str], bool]
    whole: bool = False  # the file is limpet's own
    mode: int | None = None
    # What of limpet stands in a text: the MCP entry, the hooks by event, or the own file's text.
    found: Callable[[str], Any] = lambda _: None
    # Whether somebody wrote by hand what stands in a text in its place.
    by_hand: Callable[[str], bool] = lambda _: False
    # Names of what stays there as its owner has it.
    kept: Callable[[str], list[str]] = lambda _: []
    # A text without the part, with what had been written by hand in its place before limpet.
    back: Callable[[str, str], str] = lambda text, _: text
    # A text without what in its place nobody can vouch for, and the names of that.
    vouched: Callable[[str], tuple[str, list[str]]] = lambda text: (text, [])
    dropped: Callable[[str], list[str]] = lambda _: []


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
    kept: tuple[str, ...] = ()  # names of what stays of a part as its owner has it
    dropped: tuple[str, ...] = ()  # and of what does not


# -- parts of each format


def json_value(path: Path, what: str, keys: Sequence[str], value: dict[str, Any]) -> Part:
    """An object at a path of names, such as mcpServers.limpet. Keys of its owner in one that is there stay."""

    def at(text: str) -> Any:
        return getattr(jsonc.find(jsonc.read(_json(text)), keys), "value", None)

    def put(text: str) -> str:
        text = _json(text)
        wanted = entries.changed(at(text), value)
        if wanted is None:
            return jsonc.put(text, keys, value)
        for name, one in wanted.items():
            text = jsonc.put(text, (*keys, name), one)
        return text

    def cut(text: str, origin: str | None) -> str:
        return _bare(jsonc.cut(text, keys), keys[:-1], origin)

    def back(text: str, origin: str) -> str:
        return text if at(origin) is None else jsonc.put(_json(text), keys, at(origin))

    def vouched(text: str) -> tuple[str, list[str]]:
        names = entries.strange(at(text), value)
        for name in names:
            text = jsonc.cut(text, (*keys, name))
        return text, names

    return Part(
        path, what, put, cut, lambda text: jsonc.find(jsonc.read(_json(text)), keys) is not None, found=at,
        by_hand=lambda text: entries.is_by_hand(at(text), value), kept=lambda text: entries.kept(at(text), value),
        back=back, vouched=vouched,
    )  # fmt: skip


def json_item(path: Path, what: str, keys: Sequence[str], item: str) -> Part:
    """A text in a list, such as a rule in permissions.allow. It goes with limpet, unless it was there before it."""

    def items(text: str) -> list[Any]:
        node = jsonc.find(jsonc.read(_json(text)), keys)
        return node.value if node is not None and isinstance(node.value, list) else []

    def put(text: str) -> str:
        return text if item in items(text) else jsonc.append(_json(text), keys, item)

    def cut(text: str, origin: str | None) -> str:
        if item in items(origin or ""):
            return text
        return _bare(jsonc.cut(text, keys, lambda one: one == item), keys, origin)

    # A rule that stands there without limpet's hooks is its writer's: alone it does not count as held.
    return Part(
        path, what, put, cut, lambda _: False, found=lambda text: (item in items(text)) or None,
    )  # fmt: skip


def json_hooks(path: Path, events: dict[str, Any], defaults: dict[str, Any] | None = None) -> Part:
    """Entries of the lists under `hooks`, told from others' by their command. `defaults`: what the file must have."""
    expected = defaults or {}

    def put(text: str) -> str:
        text = _json(text)
        if _kept(text) == events:
            return text
        text = _without_ours(text)
        for name, value in expected.items():
            if jsonc.find(jsonc.read(text), (name,)) is None:
                text = jsonc.put(text, (name,), value)
        for event, entry in events.items():
            text = jsonc.append(text, ("hooks", event), entry)
        return text

    def cut(text: str, origin: str | None) -> str:
        left = _without_ours(text)
        for event in _events(text):
            left = _bare(left, ("hooks", event), origin)
        rest = jsonc.parse(left)
        for name in expected:
            if name not in _origin(origin) and not rest.get("hooks") and (origin is not None or len(rest) == 1):
                left = jsonc.cut(left, (name,))
        return left

    def back(text: str, origin: str) -> str:
        for event, entry in _kept(_json(origin)).items():
            for one in entry if isinstance(entry, list) else [entry]:
                # Of a group in which others have hooks too, those stand where they were.
                own = one if is_ours(one) else {**one, "hooks": [inner for inner in inner_of(one) if is_ours(inner)]}
                text = jsonc.append(_json(text), ("hooks", event), own)
        return text

    def by_hand(text: str) -> bool:
        lines = entries.commands(list(_kept(_json(text)).values()))
        return not any(entries.WHOLE_PATH.match(line) for line in lines)

    return Part(
        path, "hooks", put, cut, lambda text: bool(_kept(_json(text))), found=lambda text: _kept(_json(text)),
        by_hand=by_hand, back=back,
    )  # fmt: skip


def toml_table(path: Path, what: str, keys: Sequence[str], value: dict[str, Any]) -> Part:
    """A table, such as mcp_servers.limpet. Keys and tables of its owner in one that is there stay."""

    def put(text: str) -> str:
        wanted = entries.changed(_toml_at(text, keys), value)
        return toml.put(text, keys, value) if wanted is None else toml.change(text, keys, wanted)

    def back(text: str, origin: str) -> str:
        there = _toml_at(origin, keys)
        return text if there is None else toml.put(text, keys, there)

    def vouched(text: str) -> tuple[str, list[str]]:
        there = _toml_at(text, keys)
        names = entries.strange(there, value)
        if names:
            left = {name: one for name, one in there.items() if name not in names}
            text = toml.put(toml.cut(text, keys), keys, left)
        return text, names

    return Part(
        path, what, put, lambda text, _: toml.cut(text, keys), lambda text: _toml_at(text, keys) is not None,
        found=lambda text: _toml_at(text, keys), back=back,
        by_hand=lambda text: entries.is_by_hand(_toml_at(text, keys), value),
        kept=lambda text: entries.kept(_toml_at(text, keys), value), vouched=vouched,
    )  # fmt: skip


def text_block(path: Path, body: str) -> Part:
    return Part(
        path, "instructions", lambda text: markdown.put(text, body), lambda text, _: markdown.cut(text),
        lambda text: markdown.BEGIN in text or markdown.END in text,
    )  # fmt: skip


def own_file(path: Path, what: str, body: str, *, mark: str, mode: int | None = None) -> Part:
    """A file that is limpet's alone, told by `mark`; one of somebody else is left alone."""

    def put(text: str) -> str:
        if text and mark not in text:
            raise jsonc.NotJson("it is there already, and not limpet's")
        return body

    return Part(
        path, what, put, lambda _text, _origin: "", lambda text: mark in text, whole=True, mode=mode,
        found=lambda text: text if mark in text else None,
    )  # fmt: skip


# -- plans


def plan_install(parts: Sequence[Part]) -> list[Change]:
    """What to write so that all parts are there. Raises BadInput for a file that cannot be read. Changes nothing."""
    return [_installed(path, several, first=_is_first(parts)) for path, several in _by_file(parts)]


def plan_uninstall(parts: Sequence[Part]) -> list[Change]:
    return [_uninstalled(path, several) for path, several in _by_file(parts)]


def held(parts: Sequence[Part]) -> list[tuple[Path, str, bool]]:
    """(file, what, whether it is there as it would be installed now)."""
    return [(part.path, part.what, found is not None) for part, found in present(parts)]


def present(parts: Sequence[Part]) -> list[tuple[Part, Any]]:
    """Each part with what of it stands in its file, or None. Raises BadInput for a file that cannot be read."""
    shown = []
    for part in parts:
        data = files.read(part.path)
        text = _decode(part.path, data)
        with _readable(part.path):
            there = data is not None and part.held(text)
            shown.append((part, (part.found(text) or True) if there else None))
    return shown


def stands(part: Part) -> bool:
    """Whether what a part adds is in its file already. Raises BadInput for a file that cannot be read."""
    data = files.read(part.path)
    with _readable(part.path):
        return data is not None and part.found(_decode(part.path, data)) is not None


def apply(changes: Sequence[Change], root: Path) -> None:
    """Carry a plan out, backups first. What cannot be done whole is taken back, and a file that changed since it was
    read is left alone. Raises StoreError."""
    for one in changes:
        if one.action != "keep" and files.read(one.path) != one.before:
            raise StoreError(f"{one.path} changed just now", hint="run the command again")
    done: list[Change] = []
    try:
        for one in changes:
            done.append(one)
            if one.backup is not None:
                files.write(files.backup_of(one.path), one.backup, like=one.path)
            if one.after is None:
                files.delete(one.path, root)
            elif one.action != "keep":
                files.write(one.path, one.after, mode=one.mode)
    except StoreError:
        for one in reversed(done):
            with contextlib.suppress(StoreError):
                _take_back(one, root)
        raise
    for one in changes:
        if one.drop_backup:
            files.delete(files.backup_of(one.path), root)


def _take_back(one: Change, root: Path) -> None:
    if files.read(one.path) != one.before:
        if one.before is None:
            files.delete(one.path, root)
        else:
            files.write(one.path, one.before, mode=one.mode)
    if one.backup is not None:
        files.delete(files.backup_of(one.path), root)


def _is_first(parts: Sequence[Part]) -> bool:
    """Whether no install was here before: what stands there of limpet, if anything, was written by hand.

    An install never writes the server's entry alone, where it has anything else to write.
    """
    for part in [part for part in parts if part.what != "MCP server"] or parts:
        data = files.read(part.path)
        text = _decode(part.path, data)
        with _readable(part.path):
            if data is not None and part.held(text) and not part.by_hand(text):
                return False
    return True


def _installed(path: Path, parts: Sequence[Part], *, first: bool) -> Change:
    what = ", ".join(part.what for part in parts)
    before = files.read(path)
    text = _decode(path, before)
    with _readable(path):
        new = _put_all(text, parts)
        was_held = any(part.held(text) for part in parts) if before is not None else False
        there = parts if before is not None else ()
        kept = tuple(name for part in there for name in part.kept(text))
        dropped = tuple(name for part in there for name in part.dropped(text))
    # Beside a file that stays as it is too: it says what of limpet in it is somebody's own.
    is_new = not was_held or (first and files.read(files.backup_of(path)) is None)
    if before is not None and new == text:
        return Change(path, what, "keep", before, before, before if was_held and is_new else None, kept=kept)
    after = new.encode("utf-8")
    if before is None:
        return Change(path, what, "create", None, after, mode=parts[0].mode)
    backup = before if is_new else None
    return Change(path, what, "change", before, after, backup, mode=parts[0].mode, kept=kept, dropped=dropped)


def _uninstalled(path: Path, parts: Sequence[Part]) -> Change:
    what = ", ".join(part.what for part in parts)
    before = files.read(path)
    text = _decode(path, before)
    with _readable(path):
        if before is None or not any(part.held(text) for part in parts):
            return Change(path, what, "keep", before, before)
        saved = files.read(files.backup_of(path))
        if parts[0].whole:
            action = "remove" if saved is None else "restore"
            return Change(path, what, action, before, saved, drop_backup=saved is not None)
        origin = None if saved is None else _decode(path, saved)
        left = _cut_all(text, parts, origin)
        untouched = left == _cut_all(_put_all(origin or "", parts), parts, origin)
        if origin is not None and not untouched:
            for part in parts:
                left = part.back(left, origin)
    if saved is not None and untouched:
        return Change(path, what, "restore", before, saved, drop_backup=True)
    if saved is None and (untouched or left.strip() in ("", "{}")):
        return Change(path, what, "remove", before, None)
    return Change(path, what, "change", before, left.encode("utf-8"), drop_backup=True)


def _by_file(parts: Sequence[Part]) -> list[tuple[Path, list[Part]]]:
    found: dict[Path, list[Part]] = {}
    for part in parts:
        found.setdefault(part.path, []).append(part)
    return list(found.items())


def _put_all(text: str, parts: Sequence[Part]) -> str:
    for part in parts:
        text = part.put(text)
    return text


def _cut_all(text: str, parts: Sequence[Part], origin: str | None) -> str:
    for part in reversed(parts):
        text = part.cut(text, origin)
    return text


class _readable:  # noqa: N801
    """What an editor cannot read becomes bad input that names the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Unreadable):
            raise BadInput(
                f"{self.path} cannot be edited: {error}", hint="nothing was changed; mend the file, then try again"
            ) from None
        if isinstance(error, RecursionError):
            raise BadInput(f"{self.path} is nested too deeply", hint="nothing was changed") from None


def _decode(path: Path, data: bytes | None) -> str:
    try:
        return "" if data is None else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path} is not UTF-8: byte 0x{data[error.start]:02x} at {error.start}" if data else str(path),
            hint="nothing was changed",
        ) from None


# -- JSON, in more detail


def _json(text: str) -> str:
    """A file without content counts as an empty object."""
    return text if text.strip("\ufeff \t\r\n") else text.rstrip(" \t\r\n") + "{}\n"


def _events(text: str) -> list[str]:
    node = jsonc.find(jsonc.read(text), ("hooks",))
    return list(node.value) if node is not None and isinstance(node.value, dict) else []


def _kept(text: str) -> dict[str, Any]:
    """Our entries by event: the one there is, or a list of several."""
    found: dict[str, Any] = {}
    node = jsonc.find(jsonc.read(text), ("hooks",))
    for event, several in node.value.items() if node is not None and isinstance(node.value, dict) else ():
        every = several if isinstance(several, list) else []
        ours = [one for one in every if is_ours(one) or any(is_ours(inner) for inner in inner_of(one))]
        if ours:
            found[event] = ours[0] if len(ours) == 1 else ours
    return found


def _without_ours(text: str) -> str:
    for event in _events(text):
        text = jsonc.cut(text, ("hooks", event), is_ours)
        node = jsonc.find(jsonc.read(text), ("hooks", event))
        for place in range(len(node.children) if node is not None else 0):
            # A group in which others have hooks too.
            text = jsonc.cut(text, ("hooks", event, place, "hooks"), is_ours)
    return text


def _bare(text: str, keys: Sequence[str], origin: str | None) -> str:
    """Without the containers along a path that are empty now and were not there before limpet."""
    for length in range(len(keys), 0, -1):
        node = jsonc.find(jsonc.read(text), keys[:length])
        if node is None or node.value not in ({}, []):
            continue
        known: Any = _origin(origin)
        for name in keys[:length]:
            known = known.get(name) if isinstance(known, dict) else None
        if known is None:
            text = jsonc.cut(text, keys[:length])
    return text


def _origin(origin: str | None) -> dict[str, Any]:
    if not origin:
        return {}
    found = jsonc.parse(_json(origin))
    return found if isinstance(found, dict) else {}


def _toml_at(text: str, keys: Sequence[str]) -> Any:
    found: Any = toml.parse(text)
    for name in keys:
        found = found.get(name) if isinstance(found, dict) else None
    return found
