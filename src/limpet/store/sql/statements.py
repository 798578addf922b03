"""The loader of `queries.sql`: named statements with the shared fragments filled in."""

from __future__ import annotations

import os
import re
from functools import cache

_HEAD = re.compile(r"^-- (name|fragment): (\w+)\n((?:-- .*\n)*)", re.MULTILINE)


@cache
def statements() -> dict[str, str]:
    """Name -> SQL. `{visible}` is left for `visible()` to fill."""
    text = _read(os.path.join(os.path.dirname(__file__), "queries.sql"))
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    found: dict[str, str] = {}
    fragments: dict[str, str] = {}
    for head, end in zip(heads, ends, strict=True):
        body = " ".join(text[head.end() : end].split())
        if head[1] == "fragment":
            fragments[head[2]] = body
            continue
        for name, fragment in fragments.items():
            body = body.replace("{" + name + "}", fragment)
        found[head[2]] = body
    return found


def migrations(folder: str) -> list[tuple[int, str]]:
    """Read the migrations of a folder: (version, SQL) in order."""
    return [(version, _read(os.path.join(folder, name))) for version, name in _versions(folder)]


def latest(folder: str) -> int:
    """Return the version of a folder's last migration, by its file's name."""
    return _versions(folder)[-1][0]


def _versions(folder: str) -> list[tuple[int, str]]:
    return sorted((int(name.split("_")[0]), name) for name in os.listdir(folder) if name.endswith(".sql"))


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
