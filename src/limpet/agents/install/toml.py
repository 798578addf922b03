"""Edits of TOML through tomlkit, which keeps comments, order and layout."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any


class NotToml(ValueError):
    """The text cannot be read, or cannot be edited without harm."""


def parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotToml(str(error)) from None


def put(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    """A table at a path, as the last one. Raises NotToml."""
    if _at(parse(text), path) == value:
        return text
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    without = cut(text, path)
    if path[0] not in parse(without):
        # A table of its own at the end: no byte before it changes.
        line_end = "\r\n" if "\r\n" in without else "\n"
        shown = tomlkit.dumps(_with({}, path, value))
        gap = "" if not without.strip() else "\n" if without.endswith("\n") else "\n\n"
        return _checked(without + (gap + shown).replace("\n", line_end), _with(parse(text), path, value))
    try:
        document = tomlkit.parse(without)
        table: Any = document
        for name in path[:-1]:
            table = table[name]
        inline = isinstance(table, tomlkit.items.InlineTable)
        made: Any = tomlkit.inline_table() if inline else tomlkit.table()
        for name, one in value.items():
            made.add(name, one)
        table[path[-1]] = made
        new = tomlkit.dumps(document)
    except (TOMLKitError, TypeError, AttributeError) as error:
        raise NotToml(f"cannot add {'.'.join(path)}: {error}") from None
    return _checked(new, _with(parse(text), path, value))


def change(text: str, path: Sequence[str], values: dict[str, Any]) -> str:
    """Keys of the table at a path made or replaced; its others stay. Raises NotToml."""
    there = _at(parse(text), path)
    wanted = {**there, **values}
    if wanted == there:
        return text
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        table: Any = document
        for name in path:
            table = table[name]
        for name, one in values.items():
            table[name] = one
        new = tomlkit.dumps(document)
    except (TOMLKitError, TypeError, AttributeError) as error:
        raise NotToml(f"cannot change {'.'.join(path)}: {error}") from None
    return _checked(new, _with(parse(text), path, wanted))


def cut(text: str, path: Sequence[str]) -> str:
    """Without the table at a path. Raises NotToml."""
    whole = parse(text)
    if _at(whole, path) is None:
        return text
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    wanted = _with(whole, path, None)
    try:
        document = tomlkit.parse(text)
        table: Any = document
        for name in path[:-1]:
            table = table[name]
        del table[path[-1]]
        new = tomlkit.dumps(document)
    except (TOMLKitError, TypeError, AttributeError) as error:
        raise NotToml(f"cannot take out {'.'.join(path)}: {error}") from None
    return _checked(new, wanted)


def _checked(text: str, wanted: dict[str, Any]) -> str:
    """The text, if it says what was wanted and nothing else."""
    if _bare(parse(text)) != _bare(wanted):
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
    copy = dict(whole)
    if len(path) == 1:
        copy.pop(path[0], None)
        return copy if value is None else copy | {path[0]: value}
    inner = copy.get(path[0])
    copy[path[0]] = _with(inner if isinstance(inner, dict) else {}, path[1:], value)
    return copy
