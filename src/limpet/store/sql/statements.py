"""The loader of `queries.sql`: named statements with the shared fragments filled in."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_HEAD = re.compile(r"^-- (name|fragment): (\w+)\n((?:-- .*\n)*)", re.MULTILINE)


@cache
def statements() -> dict[str, str]:
    """Name -> SQL. `{visible}` is left for `visible()` to fill."""
    text = Path(__file__).with_name("queries.sql").read_text(encoding="utf-8")
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


def migrations(folder: Path) -> list[tuple[int, str]]:
    """(version, SQL) in order."""
    return [(int(one.name.split("_")[0]), one.read_text(encoding="utf-8")) for one in sorted(folder.glob("[0-9]*.sql"))]
