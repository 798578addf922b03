"""Edits of TOML through tomlkit, which keeps comments, order and layout."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from .jsonc import Unreadable


def get(text: str, path: Sequence[str]) -> Any:
    """Return the value at a path; None where there is none. Raises Unreadable."""
    value: Any = _parse(text)
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Make or replace the value at a path. Raises Unreadable."""
    return text if get(text, path) == value else _edited(text, path, value)


def cut(text: str, path: Sequence[str]) -> str:
    """Remove the value at a path. Raises Unreadable."""
    return text if get(text, path) is None else _edited(text, path, None)


def _edited(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a value at the path, or without it for None; only if the edit changes nothing else."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    wanted, line_end = _with(_parse(text), path, value), "\r\n" if "\r\n" in text else "\n"
    try:
        document = tomlkit.parse(text)
        table: Any = document
        for name in path[:-1]:
            table = table[name] if name in table else table.setdefault(name, tomlkit.table(is_super_table=True))
        if value is None:
            del table[path[-1]]
        else:
            table[path[-1]] = value
        new = tomlkit.dumps(document).replace("\r\n", "\n").replace("\n", line_end)
    except (TOMLKitError, TypeError, AttributeError) as error:
        raise Unreadable(f"cannot edit {'.'.join(path)}: {error}") from None
    if _without_empty(_parse(new)) != _without_empty(wanted):
        raise Unreadable("the edit would change something else")
    return new


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Unreadable(str(error)) from None


def _without_empty(value: Any) -> Any:
    """Leave out empty tables: one that only held limpet's may stay behind as a header."""
    if not isinstance(value, dict):
        return value
    inner = {name: _without_empty(part) for name, part in value.items()}
    return {name: part for name, part in inner.items() if part != {}}


def _with(whole: dict[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a copy with the value at the path, or without it for None."""
    inner = value
    if len(path) > 1:
        table = whole.get(path[0])
        inner = _with(table if isinstance(table, dict) else {}, path[1:], value)
    return {name: part for name, part in (whole | {path[0]: inner}).items() if part is not None}
