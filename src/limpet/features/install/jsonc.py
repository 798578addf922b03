"""Edits of JSON with comments that leave every other byte as it is: a reader that keeps each value's place, and pieces
of text put in or cut out there. Guarded by tests/property/test_install.py."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

_STRING = r'"(?:[^"\\]|\\.)*+"'
_COMMENT = re.compile(rf"{_STRING}|(//[^\r\n]*|/\*.*?\*/)", re.DOTALL)
# A comma before the end of a container, unless nothing stands before it.
_TRAILING_COMMA = re.compile(rf"{_STRING}|[\[{{,:]\s*,|(,)(?=\s*[}}\]])", re.DOTALL)
_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[ \t]+|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?(?=\r?\n)")
# Names of members, and places in lists.
Path = Sequence[str | int]


class Unreadable(ValueError):
    """An error: the text cannot be read, with the place and the reason."""


class Node(NamedTuple):
    """A value and where it stands: text[start:end]. A member of an object has a key."""

    value: Any
    start: int
    end: int
    key: str | None
    left: int  # where it begins, its key included


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


@lru_cache(maxsize=8)  # an install asks sixty times about the same few texts
def _plain(text: str) -> str:
    """Return a document as plain JSON of the same length: spaces for comments and trailing commas. Raises
    Unreadable."""

    def blank(match: re.Match[str]) -> str:
        return match[0] if match[1] is None else re.sub(r"[^\r\n]", " ", match[1])

    plain = _TRAILING_COMMA.sub(blank, _COMMENT.sub(blank, re.sub("^\ufeff", " ", text)))
    try:
        _DECODER.decode(plain)
    except json.JSONDecodeError as error:
        raise Unreadable(f"line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error)) from None
    return plain


def read(text: str) -> Node:
    """Parse a document. Comments and trailing commas are allowed. Raises Unreadable."""
    plain = _plain(text)
    start = _skip(plain, 0)
    value, end = _DECODER.raw_decode(plain, start)
    return Node(value, start, end, None, start)


def _children(text: str, node: Node) -> list[Node]:
    """Return the members of an object or the items of a list; [] for another value."""
    children: list[Node] = []
    if not isinstance(node.value, dict | list):
        return children
    plain = _plain(text)
    at = _skip(plain, node.start + 1)
    while plain[at] not in "}]":
        left, key = at, None
        if isinstance(node.value, dict):
            key, at = _DECODER.raw_decode(plain, at)
            at = _skip(plain, _skip(plain, at) + 1)
        value, end = _DECODER.raw_decode(plain, at)
        children.append(Node(value, at, end, key, left))
        at = _skip(plain, end)
        if plain[at] == ",":
            at = _skip(plain, at + 1)
    return children


def _child(text: str, node: Node, key: str | int) -> Node | None:
    """Return the last child of that key, which JSON readers use; or the item at that place of a list."""
    children = _children(text, node)
    if isinstance(key, int):
        return children[key] if isinstance(node.value, list) and key < len(children) else None
    return next((child for child in reversed(children) if child.key == key), None)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


# -- edits


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Make or replace the value at a path of names; objects on the way are made. Raises Unreadable."""
    text = _with_content(text)
    parent = node = read(text)
    for place, name in enumerate(path):
        if not isinstance(node.value, dict):
            raise Unreadable(f"{'.'.join(path[:place]) or 'the document'} is not an object")
        child = _child(text, node, name)
        if child is None:
            for inner in reversed(path[place + 1 :]):
                value = {inner: value}
            return _insert(text, node, value, name)
        parent, node = node, child
    if node.value == value:
        return text
    shown = _format(text, value, _indent_of(text, node.left), one_line="\n" not in text[parent.start : parent.end])
    return text[: node.start] + shown + text[node.end :]


def append(text: str, path: Sequence[str], value: Any) -> str:
    """Add an item to the list at a path, which is made when it is not there. Raises Unreadable."""
    text = _with_content(text)
    node = _find(text, path)
    if node is None:
        return put(text, path, [value])
    if not isinstance(node.value, list):
        raise Unreadable(f"{'.'.join(path)} is not a list")
    return _insert(text, node, value, None)


def cut(text: str, path: Path, gone: Callable[[Any], bool] | None = None) -> str:
    """Remove the value at a path; with `gone`, the items of the list there for which it is true. Raises Unreadable."""
    text = _with_content(text)
    while True:
        node = _find(text, path if gone else path[:-1])
        children = [] if node is None else _children(text, node)
        if gone is None:
            doomed = [child for child in children if child.key == path[-1]]
        else:
            doomed = [child for child in children if child.key is None and gone(child.value)]
        if node is None or not doomed:
            return text
        text = _remove(text, node, children, doomed[-1])


def get(text: str, path: Path) -> Any:
    """Return the value at a path; None where there is none. Raises Unreadable."""
    node = _find(_with_content(text), path)
    return None if node is None else node.value


def _with_content(text: str) -> str:
    """Return a file's text, or an empty object for a file without content."""
    return text if text.strip("\ufeff \t\r\n") else text.rstrip(" \t\r\n") + "{}\n"


def _find(text: str, path: Path) -> Node | None:
    node: Node | None = read(text)
    for name in path:
        node = None if node is None else _child(text, node, name)
    return node


def _insert(text: str, node: Node, value: Any, key: str | None) -> str:
    """Insert the value as the last child of a container, in the style of the others."""
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    line_end = _line_end(text)
    children = _children(text, node)
    if not children:
        outer = _indent_of(text, node.start)
        inner = outer + _unit(text)
        comments = text[node.start + 1 : node.end - 1].rstrip()
        shown = line_end + inner + name + _format(text, value, inner) + line_end + outer
        return text[: node.start + 1] + comments + shown + text[node.end - 1 :]
    last = children[-1]
    if "\n" not in text[node.start : node.end]:  # the container is on one line
        return text[: last.end] + ", " + name + _format(text, value, "", one_line=True) + text[last.end :]
    after = _skip(text, last.end)
    trailing = text[after] == ","
    # A comment behind the last child stays behind it.
    at = after + 1 if trailing else last.end
    rest = _REST_OF_LINE.match(text, at)
    stop = rest.end() if rest and rest.end() < node.end else at
    indent = _indent_of(text, last.left)
    shown = line_end + indent + name + _format(text, value, indent)
    comma, ending = ("", ",") if trailing else (",", "")
    return text[: last.end] + comma + text[last.end : stop] + shown + ending + text[stop:]


def _remove(text: str, node: Node, children: list[Node], child: Node) -> str:
    """Remove a child, its comma, and its lines if it has lines of its own. Comments stay."""
    place = children.index(child)
    start, end = child.left, child.end
    after = _skip(text, end)
    gone = []
    followed = text[after] == ","
    if followed and after == end:
        end += 1
    elif followed:
        gone.append((after, after + 1))
    elif place > 0:
        comma = _skip(text, children[place - 1].end)
        gone.append((comma, comma + 1))
    line, stop = text.rfind("\n", 0, start), text.find("\n", end)
    if line > node.start and stop >= 0 and not (text[line + 1 : start] + text[end:stop]).strip():
        start = line - 1 if text[line - 1] == "\r" else line
        end += len(text[end:stop].removesuffix("\r"))
    elif followed:
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    else:
        start = len(text[:start].rstrip(" \t"))
    for begin, stop in sorted([*gone, (start, end)], reverse=True):
        text = text[:begin] + text[stop:]
    if len(children) == 1:
        close = _skip(text, node.start + 1)
        if not text[node.start + 1 : close].strip():
            text = text[: node.start + 1] + text[close:]
    return text


def _format(text: str, value: Any, indent: str, *, one_line: bool = False) -> str:
    if one_line:
        return json.dumps(value, ensure_ascii=False)
    shown = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return shown.replace("\n", _line_end(text) + indent)


def _indent_of(text: str, at: int) -> str:
    """Return the white space that begins the line of a place."""
    start = text.rfind("\n", 0, at) + 1
    match = re.match(r"[ \t]*", text[start:at].lstrip("\ufeff"))
    return match[0] if match else ""


def _unit(text: str) -> str:
    """Return one step of indentation, as in the file; two spaces if it has none."""
    match = re.search(r"\n([ \t]+)[^\s/*]", text)
    return match[1] if match else "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
