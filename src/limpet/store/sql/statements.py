"""The loader of `queries.sql`: named statements with the shared fragments filled in."""

from __future__ import annotations

import os
import re
from functools import cache

_HEAD = re.compile(r"^-- (name|fragment): (\w+)\n((?:-- .*\n)*)", re.MULTILINE)


@cache
def statements() -> dict[str, str]:
    """Name -> SQL. `{visible}` is left for `visible()` to fill."""
    with open(os.path.join(os.path.dirname(__file__), "queries.sql"), encoding="utf-8") as file:
        text = file.read()
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
