"""The small part of YAML that front matter uses: `key: value`, quoted texts, lists, maps, block texts.

limpet depends on no YAML parser. What goes beyond this part (anchors, tags, maps in lists) is named line by line.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

# Front matter longer than this is none.
MAX_LINES = 500
_PAIR = re.compile(r"([A-Za-z_][\w .-]{0,99}?)\s*:(?:\s+(.*))?$")


class Front(NamedTuple):
    values: dict[str, Any]
    lines: int  # that it takes, both fences included; 0 = there is none
    bad: list[tuple[int, str]]  # (line from 1, what it says) that was not understood


def parse(lines: list[str]) -> Front:
    """Front matter at the top of a text's lines. Pure."""
    if not lines or lines[0].rstrip() != "---":
        return Front({}, 0, [])
    end = next((i for i, line in enumerate(lines[1:MAX_LINES], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return Front({}, 0, [])
    values: dict[str, Any] = {}
    bad: list[tuple[int, str]] = []
    _block(lines, 1, end, 0, values, bad)
    return Front(values, end + 1, bad)


def _block(lines: list[str], at: int, end: int, indent: int, into: dict[str, Any], bad: list[tuple[int, str]]) -> int:
    """Pairs at one depth of indentation; returns the line after them."""
    while at < end:
        line = lines[at].rstrip()
        depth = len(line) - len(line.lstrip(" "))
        if not line.strip() or line.lstrip().startswith("#"):
            at += 1
            continue
        if depth < indent:
            return at
        pair = _PAIR.match(line.strip()) if depth == indent else None
        if pair is None:
            bad.append((at + 1, line.strip()))
            at += 1
            continue
        name, given = pair[1], (pair[2] or "").strip()
        at += 1
        if given[:1] in ("|", ">") and len(given) <= 3:
            at, text = _text(lines, at, end, indent)
            into[name] = text if given[0] == "|" else " ".join(text.split())
        elif given and not given.startswith("#"):
            into[name] = scalar(given)
        else:
            at, into[name] = _nested(lines, at, end, indent, bad)
    return at


def _nested(lines: list[str], at: int, end: int, indent: int, bad: list[tuple[int, str]]) -> tuple[int, Any]:
    """A list or a map below a key; None when there is neither."""
    while at < end and not lines[at].strip():
        at += 1
    if at >= end:
        return at, None
    line = lines[at]
    depth = len(line) - len(line.lstrip(" "))
    if line.lstrip().startswith("- ") and depth >= indent:
        found: list[Any] = []
        while at < end and (one := lines[at].strip()):
            if not one.startswith("- ") or len(lines[at]) - len(lines[at].lstrip(" ")) != depth:
                break
            found.append(scalar(one[2:].strip()))
            at += 1
        return at, found
    if depth > indent and indent < 20:
        inner: dict[str, Any] = {}
        return _block(lines, at, end, depth, inner, bad), inner
    return at, None


def _text(lines: list[str], at: int, end: int, indent: int) -> tuple[int, str]:
    taken = []
    while at < end and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip(" ")) > indent):
        taken.append(lines[at].strip())
        at += 1
    return at, "\n".join(taken).strip()


def scalar(text: str) -> Any:
    """A value: list in brackets, quoted text, true and false, number, or the text itself."""
    if text.startswith("[") and text.endswith("]"):
        return [scalar(one.strip()) for one in _split(text[1:-1]) if one.strip()]
    if len(text) >= 2 and text[0] == text[-1] == '"':
        try:
            return json.loads(text)
        except ValueError:
            return text[1:-1]
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    text = re.split(r"\s#", text, maxsplit=1)[0].strip()
    if text in ("true", "false"):
        return text == "true"
    if text in ("null", "~", ""):
        return None
    if re.fullmatch(r"-?(?:0|[1-9]\d{0,17})", text):
        return int(text)
    if re.fullmatch(r"-?\d{1,17}\.\d{1,17}", text):
        return float(text)
    return text


def _split(text: str) -> list[str]:
    """At commas outside of quotes."""
    return re.findall(r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^,"'])+""", text)


def dump(values: dict[str, Any]) -> str:
    """Front matter that `parse` and every YAML parser read; maps may hold maps."""
    return "---\n" + _dump(values, "") + "---\n"


def _dump(values: dict[str, Any], indent: str) -> str:
    out = ""
    for name, value in values.items():
        if isinstance(value, dict):
            out += f"{indent}{name}:\n" + _dump(value, indent + "  ")
        else:
            out += f"{indent}{name}: {json.dumps(value, ensure_ascii=False)}\n"
    return out
