"""Edits of JSON with comments that leave every other byte as it is: a reader that keeps each value's place, and pieces
of text put in or cut out there. Guarded by tests/property/test_install.py."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from ...model.dataclass import dataclass, field

# Settings nest a few levels; more than this is not a settings file.
MAX_DEPTH = 200
_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_REST_OF_LINE = re.compile(r"(?:[ \t]+|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?(?=\r?\n)")
_BLANK_TO_END = re.compile(r"[ \t]*(?=\r?\n)")
# Names of members, and places in lists.
Path = Sequence[str | int]


class Unreadable(ValueError):
    """An error: the text cannot be read, with the place and the reason."""


@dataclass(slots=True)
class Node:
    """A value and where it stands: text[start:end]. Children of an object have keys, those of a list none."""

    value: Any
    start: int
    end: int
    children: list[Node] = field(default_factory=list)
    key: str | None = None
    key_start: int = -1

    @property
    def left(self) -> int:
        """The offset where this child begins, its key included."""
        return self.start if self.key is None else self.key_start

    def child(self, key: str | int) -> Node | None:
        """Return the last child of that key, which JSON readers use; or the item at that place of a list."""
        if isinstance(key, int):
            return self.children[key] if isinstance(self.value, list) and key < len(self.children) else None
        return next((child for child in reversed(self.children) if child.key == key), None)


@lru_cache(maxsize=8)  # an install asks sixty times about the same few texts
def read(text: str) -> Node:
    """Parse a document with places; nobody changes the result. Comments and trailing commas are allowed. Raises
    Unreadable."""
    begin = _skip(text, 1 if text.startswith("\ufeff") else 0)
    node = _value(text, begin, 0)
    end = _skip(text, node.end)
    if end != len(text):
        raise Unreadable(f"line {_line(text, end)}: something follows the end")
    return node


def _value(text: str, at: int, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise Unreadable(f"line {_line(text, at)}: nested too deeply")
    first = text[at : at + 1]
    if first == '"':
        value, end = _string(text, at)
        return Node(value, at, end)
    if first in ("{", "["):
        return _container(text, at, depth, is_object=first == "{")
    match = _SCALAR.match(text, at)
    if not match:
        raise Unreadable(f"line {_line(text, at)}: expected a value")
    return Node(json.loads(match[0]), at, match.end())


def _container(text: str, at: int, depth: int, *, is_object: bool) -> Node:
    close = "}" if is_object else "]"
    node = Node({} if is_object else [], at, at)
    place = _skip(text, at + 1)
    while text[place : place + 1] != close:
        key, key_start = None, place
        if is_object:
            if text[place : place + 1] != '"':
                raise Unreadable(f"line {_line(text, place)}: expected a name in double quotes, or {close}")
            key, place = _string(text, place)
            place = _skip(text, place)
            if text[place : place + 1] != ":":
                raise Unreadable(f"line {_line(text, place)}: expected a colon")
            place = _skip(text, place + 1)
        child = _value(text, place, depth + 1)
        child.key, child.key_start = key, key_start
        node.children.append(child)
        if is_object:
            node.value[key] = child.value
        else:
            node.value.append(child.value)
        place = _skip(text, child.end)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
        elif text[place : place + 1] != close:
            raise Unreadable(f"line {_line(text, place)}: expected a comma or {close}")
    node.end = place + 1
    return node


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        result: tuple[str, int] = scanstring(text, at + 1, True)
    except ValueError as error:
        raise Unreadable(f"line {_line(text, at)}: {str(error).split(':')[0]}") from None
    return result


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


# -- edits


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Make or replace the value at a path of names; objects on the way are made. Raises Unreadable."""
    text = _with_content(text)
    node = _object(read(text), path[:0])
    for place, name in enumerate(path):
        child = node.child(name)
        last = place == len(path) - 1
        if child is None:
            for inner in reversed(path[place + 1 :]):
                value = {inner: value}
            return _insert(text, node, value, name)
        if last:
            if child.value == value:
                return text
            shown = _format(text, value, _indent_of(text, child.left), one_line=_on_one_line(text, node))
            return text[: child.start] + shown + text[child.end :]
        node = _object(child, path[: place + 1])
    return text


def append(text: str, path: Sequence[str], value: Any) -> str:
    """Add an item to the list at a path, which is made when it is not there. Raises Unreadable."""
    text = _with_content(text)
    node = _find(read(text), path)
    if node is None:
        return put(text, path, [value])
    if not isinstance(node.value, list):
        raise Unreadable(f"{'.'.join(path)} is not a list")
    return _insert(text, node, value, None)


def cut(text: str, path: Path, gone: Callable[[Any], bool] | None = None) -> str:
    """Remove the value at a path; with `gone`, the items of the list there for which it is true. Raises Unreadable."""
    text = _with_content(text)
    while True:
        node = _find(read(text), path if gone else path[:-1])
        if node is None:
            return text
        if gone is None:
            doomed = [child for child in node.children if child.key == path[-1]]
        else:
            doomed = [child for child in node.children if gone(child.value)] if isinstance(node.value, list) else []
        if not doomed:
            return text
        text = _remove(text, node, doomed[-1])


def get(text: str, path: Path) -> Any:
    """Return the value at a path; None where there is none. Raises Unreadable."""
    node = _find(read(_with_content(text)), path)
    return None if node is None else node.value


def _with_content(text: str) -> str:
    """Return a file's text, or an empty object for a file without content."""
    return text if text.strip("\ufeff \t\r\n") else text.rstrip(" \t\r\n") + "{}\n"


def _find(node: Node, path: Path) -> Node | None:
    for name in path:
        child = node.child(name)
        if child is None:
            return None
        node = child
    return node


def _object(node: Node, path: Sequence[str]) -> Node:
    if not isinstance(node.value, dict):
        raise Unreadable(f"{'.'.join(path) or 'the document'} is not an object")
    return node


def _insert(text: str, node: Node, value: Any, key: str | None) -> str:
    """Insert the value as the last child of a container, in the style of the others."""
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    line_end = _line_end(text)
    if not node.children:
        outer = _indent_of(text, node.start)
        inner = outer + _unit(text)
        comments = text[node.start + 1 : node.end - 1].rstrip()
        shown = line_end + inner + name + _format(text, value, inner) + line_end + outer
        return text[: node.start + 1] + comments + shown + text[node.end - 1 :]
    last = node.children[-1]
    if _on_one_line(text, node):
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


def _remove(text: str, node: Node, child: Node) -> str:
    """Remove a child, its comma, and its lines if it has lines of its own. Comments stay."""
    place = node.children.index(child)
    start, end = child.left, child.end
    after = _skip(text, end)
    gone = []
    followed = text[after] == ","
    if followed and after == end:
        end += 1
    elif followed:
        gone.append((after, after + 1))
    elif place > 0:
        comma = _skip(text, node.children[place - 1].end)
        gone.append((comma, comma + 1))
    line = text.rfind("\n", 0, start)
    blank = _BLANK_TO_END.match(text, end)
    if line > node.start and not text[line + 1 : start].strip() and blank:
        start, end = (line - 1 if text[line - 1] == "\r" else line), blank.end()
    elif followed:
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    else:
        start = len(text[:start].rstrip(" \t"))
    for begin, stop in sorted([*gone, (start, end)], reverse=True):
        text = text[:begin] + text[stop:]
    if len(node.children) == 1:
        close = _skip(text, node.start + 1)
        if not text[node.start + 1 : close].strip():
            text = text[: node.start + 1] + text[close:]
    return text


def _format(text: str, value: Any, indent: str, *, one_line: bool = False) -> str:
    if one_line:
        return json.dumps(value, ensure_ascii=False)
    shown = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return shown.replace("\n", _line_end(text) + indent)


def _on_one_line(text: str, node: Node) -> bool:
    return bool(node.children) and "\n" not in text[node.start : node.end]


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
