"""Symbols of source code with their signatures and docstrings, by tree-sitter (the extra `code`).

A symbol is a function, method, class or the like that has a name. Its signature is what stands before its body, its
docstring a string that begins the body or the comments right before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ...model.errors import BadInput
from .project import Piece, piece

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_DEPTH = 200
LANGUAGES = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".jsx": "javascript", ".ts": "typescript", ".mts": "typescript", ".tsx": "tsx", ".go": "go", ".rs": "rust",
    ".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".c": "c", ".h": "c", ".cc": "cpp",
    ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".cs": "csharp", ".rb": "ruby", ".php": "php",
    ".swift": "swift", ".sh": "bash", ".bash": "bash", ".lua": "lua", ".ex": "elixir", ".exs": "elixir",
    ".dart": "dart", ".jl": "julia", ".zig": "zig", ".m": "objc", ".sol": "solidity", ".pl": "perl", ".pm": "perl",
    ".gd": "gdscript",
}  # fmt: skip
_SYMBOL = re.compile(
    r"(?:abstract_)?(function|method|constructor|class|struct|enum|union|trait|interface|protocol|object|record|module|"
    r"namespace|mod|contract|macro|type_alias|type|singleton_method|local_function|class_method)"
    r"(?:_(definition|declaration|item|specifier|spec|signature|statement|declaration_statement))?"
)
_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "function"})
_CALLABLE = frozenset({"function", "method", "constructor", "macro", "singleton_method", "local_function"})
# What stands between a symbol and the comment before it; Ruby's body begins after that.
_WRAPPERS = frozenset(
    {"export_statement", "decorated_definition", "lexical_declaration", "type_declaration", "template_declaration"}
)
_COMMENT_MARKS = re.compile(r"^\s*(?:/\*+!?|\*+/|\*(?!/)|//[/!]?|#+!?|--+|;+)\s?|\s*\*+/\s*$")


def pieces(name: str, content: bytes) -> Iterator[Piece]:
    """The symbols of one file. Raises BadInput when tree-sitter is not installed."""
    tree = _parser(LANGUAGES[PurePosixPath(name).suffix.lower()]).parse(content)
    lines = content.decode("utf-8", "replace").splitlines()
    root = tree.root_node
    first = next((one for one in root.named_children if one.type != "comment"), None)
    doc = _string(first) if first is not None else ""
    if first is not None and doc:
        yield piece("module", f"{name}: module\n{doc}", lines, first.start_point[0], first.end_point[0])
    yield from _symbols(name, root, lines, "", 0)


@lru_cache(maxsize=64)
def _parser(language: str) -> Parser:
    try:
        from tree_sitter_language_pack import get_parser
    except ImportError:
        raise BadInput("reading code needs tree-sitter", hint="pip install 'limpet[code]'") from None
    found: Parser = get_parser(language)  # type: ignore[arg-type]
    return found


def _symbols(name: str, node: Node, lines: list[str], within: str, depth: int) -> Iterator[Piece]:
    if depth > MAX_DEPTH:
        return
    for child in node.named_children:
        kind, symbol = _symbol(child)
        if symbol is None:
            yield from _symbols(name, child, lines, within, depth + 1)
            continue
        path = f"{within}.{symbol}" if within else symbol
        if kind:
            yield _piece(name, child, lines, path, kind)
        if kind not in _CALLABLE:
            yield from _symbols(name, child, lines, path, depth + 1)


def _symbol(node: Node) -> tuple[str, str | None]:
    """(what it is, its name); a part of the code that only groups symbols is nothing, with a name."""
    if node.type == "impl_item":
        return "", _text(node.child_by_field_name("type")) or None
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        return ("function", _name(node)) if value is not None and value.type in _FUNCTION_VALUES else ("", None)
    found = _SYMBOL.fullmatch(node.type)
    if found is None or (found[2] == "specifier" and node.child_by_field_name("body") is None):
        return "", None
    return found[1].replace("_", " "), _name(node)


def _name(node: Node | None) -> str | None:
    """The name of a symbol; in C it is at the end of its declarators."""
    for _ in range(10):
        if node is None:
            return None
        found = node.child_by_field_name("name")
        if found is not None:
            return _text(found)[:200] or None
        inner = node.child_by_field_name("declarator")
        if inner is None:
            return _text(node)[:200] if node.type.endswith("identifier") else None
        node = inner
    return None


def _piece(name: str, node: Node, lines: list[str], path: str, kind: str) -> Piece:
    body: Any = node.child_by_field_name("body")
    header = node.text or b""
    header = header[: body.start_byte - node.start_byte] if body is not None else header.split(b"\n", 1)[0]
    signature = " ".join(header.decode("utf-8", "replace").split()).rstrip(" {:=")[:400]
    inner = body.named_children[0] if body is not None and body.named_children else None
    doc = _string(inner) if inner is not None else ""
    last = node.end_point[0]
    if kind not in _CALLABLE:
        # A class is what stands before its members: these speak for themselves.
        last = inner.end_point[0] if inner is not None and doc else (body.start_point[0] if body is not None else last)
    doc = doc or _comment(node)
    content = f"{name}: {kind} {path}\n{signature}" + (f"\n{doc}" if doc else "")
    return piece(path, content, lines, node.start_point[0], max(last, node.start_point[0]))


def _string(node: Node) -> str:
    """The text of a statement that is only a string: Python's docstring."""
    if node.type == "expression_statement" and node.named_children:
        node = node.named_children[0]
    if node.type != "string":
        return ""
    parts = [_text(one) for one in node.named_children if one.type in ("string_content", "escape_sequence")]
    return "\n".join(line.strip() for line in "".join(parts).strip().splitlines())


def _comment(node: Node) -> str:
    """The comments right before a symbol, without their marks."""
    while node.parent is not None and (
        node.parent.type in _WRAPPERS or (node.parent.type == "body_statement" and node.prev_named_sibling is None)
    ):
        node = node.parent
    found: list[str] = []
    before = node.prev_named_sibling
    line = node.start_point[0]
    while before is not None and "comment" in before.type and before.end_point[0] >= line - 1:
        found.insert(0, _text(before))
        line = before.start_point[0]
        before = before.prev_named_sibling
    plain = (_COMMENT_MARKS.sub("", _COMMENT_MARKS.sub("", one)).strip() for text in found for one in text.splitlines())
    return "\n".join(one for one in plain if one)


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""
