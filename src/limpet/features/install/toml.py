"""Edits of TOML through tomlkit, which keeps comments, order and layout."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any


class NotToml(ValueError):
    """The text cannot be read, or cannot be edited without harm."""


def get(text: str, path: Sequence[str]) -> Any:
    """The value at a path; None where there is none. Raises NotToml."""
    return _at(_parse(text), path)


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The value at a path, made or replaced; a table as the last one. Raises NotToml."""
    there = get(text, path)
    if there == value:
        return text
    import tomlkit

    wanted = _with(_parse(text), path, value)
    if isinstance(value, dict):
        text = cut(text, path)
        if path[0] not in _parse(text):
            # A table of its own at the end: no byte before it changes.
            line_end = "\r\n" if "\r\n" in text else "\n"
            shown = tomlkit.dumps(_with({}, path, value))
            gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
            return _checked(text + (gap + shown).replace("\n", line_end), wanted)

    def edit(table: Any) -> None:
        if isinstance(value, dict):
            inline = isinstance(table, tomlkit.items.InlineTable)
            made: Any = tomlkit.inline_table() if inline else tomlkit.table()
            for name, one in value.items():
                made.add(name, one)
            table[path[-1]] = made
        else:
            table[path[-1]] = value

    return _edited(text, path, edit, wanted)


def cut(text: str, path: Sequence[str]) -> str:
    """Without the value at a path. Raises NotToml."""
    if get(text, path) is None:
        return text
    return _edited(text, path, lambda table: table.__delitem__(path[-1]), _with(_parse(text), path, None))


def _edited(text: str, path: Sequence[str], edit: Any, wanted: dict[str, Any]) -> str:
    """The text after an edit of the table that holds the path, if it says what was wanted and nothing else."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        table: Any = document
        for name in path[:-1]:
            table = table[name]
        edit(table)
        new = tomlkit.dumps(document)
    except (TOMLKitError, TypeError, AttributeError) as error:
        raise NotToml(f"cannot edit {'.'.join(path)}: {error}") from None
    return _checked(new, wanted)


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotToml(str(error)) from None


def _checked(text: str, wanted: dict[str, Any]) -> str:
    if _bare(_parse(text)) != _bare(wanted):
        raise NotToml("the edit would change something else")
    return text


def _bare(value: Any) -> Any:
    """Without empty tables: a table that only held ours may stay behind as a header."""
    if isinstance(value, dict):
        inner = {name: _bare(one) for name, one in value.items()}
        return {name: one for name, one in inner.items() if one != {}}
    return value


def _at(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _with(whole: dict[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """A copy with the value at the path; without it for None."""
    inner = value
    if len(path) > 1:
        table = whole.get(path[0])
        inner = _with(table if isinstance(table, dict) else {}, path[1:], value)
    return {name: one for name, one in (whole | {path[0]: inner}).items() if one is not None}
