"""A project as notes that know their source: new pieces are remembered, changed ones edited, others archived.

A piece is a symbol of code, a statement of Markdown or a page of PDF. Its metadata has, under `indexed`, its place and
a digest of its lines, by which a recalled memory is compared with its file. A file whose digest is known is not read
again.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from ...model.errors import BadInput, package_missing
from ...model.ids import parse_id
from ...model.memory import STATES, Filter, Memory
from ...recall.lookup import INDEXED
from ...remember.write import Writer
from . import formats, markdown, texts
from .importer import BATCH, ORIGIN, Importer
from .records import Record, TransferReport, content_of, digest, files_below, mark_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

    from ...context import Context

MAX_CONTENT = 8_000  # characters of one note
MAX_CODE_BYTES = 1_000_000
MAX_PDF_BYTES = 50_000_000
MAX_PAGES = 5_000


class Piece(NamedTuple):
    """The source of one memory. `key` names it within its file; `lines` 0: it has no lines."""

    key: str
    content: str
    line: int
    lines: int
    digest: str
    topics: tuple[str, ...] = ()


def piece(
    key: str, content: str, lines: Sequence[str], first: int, last: int, *, topics: tuple[str, ...] = ()
) -> Piece:
    """Return a piece of some whole lines, counted from 0, `last` included."""
    return Piece(key, content, first + 1, last - first + 1, lines_digest(lines[first : last + 1]), topics)


# -- documents


def document_pieces(name: str, content: bytes) -> Iterator[Piece]:
    """Yield the statements of a file. Raises BadInput for an unreadable PDF, LimpetError without pypdf."""
    if name.lower().endswith(".pdf"):
        yield from _pages(name, content)
        return
    lines = formats.split_lines(formats.decoded(content)[0])
    for chunk in texts.page_of(name, lines, formats.FORMATS[PurePosixPath(name).suffix.lower()]).chunks:
        heading = " > ".join(chunk.headings)
        whole = f"{name}: {heading}".rstrip() + f"\n{chunk.text}"
        key = f"{heading}#{digest(chunk.text)}"
        yield piece(key, whole, lines, chunk.line - 1, chunk.last - 1, topics=chunk.headings[-1:])


def _pages(name: str, content: bytes) -> Iterator[Piece]:
    import logging

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # what it mends itself is nobody's business
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ModuleNotFoundError as error:
        raise package_missing(error, "docs") from error
    empty = True
    try:
        for number, page in zip(range(1, MAX_PAGES + 1), PdfReader(io.BytesIO(content)).pages, strict=False):
            text = "\n".join(line.rstrip() for line in page.extract_text().splitlines() if line.strip())
            for _, passage in formats.passages(text) if text else ():
                empty = False
                yield Piece(f"page {number}", f"{name}: page {number}\n{passage}", number, 0, digest(passage))
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OSError) as error:
        raise BadInput(f"not a PDF that can be read: {str(error)[:200]}") from None
    if empty:
        raise BadInput("no text in it: pictures of pages are not read")


# -- code: functions, methods, classes and the like by tree-sitter. The signature is the text before the body, the
# docstring a string that begins the body or the comments right before the symbol.

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
# Nodes between a symbol and the comment before it.
_WRAPPERS = frozenset(
    {"export_statement", "decorated_definition", "lexical_declaration", "type_declaration", "template_declaration"}
)
_COMMENT_MARKS = re.compile(r"^\s*(?:/\*+!?|\*+/|\*(?!/)|//[/!]?|#+!?|--+|;+)\s?|\s*\*+/\s*$")


def code_pieces(name: str, content: bytes) -> Iterator[Piece]:
    """Yield the symbols of one file. Raises LimpetError when tree-sitter is not installed."""
    root = _parser(LANGUAGES[PurePosixPath(name).suffix.lower()]).parse(content).root_node
    lines = formats.split_lines(content.decode("utf-8", "replace"))
    first = next((node for node in root.named_children if node.type != "comment"), None)
    if doc := _string(first):
        assert first is not None
        yield piece("module", f"{name}: module\n{doc}", lines, first.start_point[0], first.end_point[0])
    yield from _symbols(name, root, lines, "", 0)


@lru_cache(maxsize=64)
def _parser(language: str) -> Parser:
    try:
        from tree_sitter_language_pack import get_parser
    except ModuleNotFoundError as error:
        raise package_missing(error, "code") from error
    parser: Parser = get_parser(language)  # type: ignore[arg-type]
    return parser


def _symbols(name: str, node: Node, lines: list[str], within: str, depth: int) -> Iterator[Piece]:
    for child in node.named_children if depth <= MAX_DEPTH else ():
        kind, symbol = _symbol(child)
        path = f"{within}.{symbol}" if within and symbol else symbol or within
        if kind and symbol:
            yield _piece(name, child, lines, path, kind)
        if not symbol or kind not in _CALLABLE:
            yield from _symbols(name, child, lines, path, depth + 1)


def _symbol(node: Node) -> tuple[str, str]:
    """Return (type, name) of a symbol; the type is empty for code that only groups symbols."""
    if node.type == "impl_item":
        return "", _text(node.child_by_field_name("type"))
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        return ("function", _name(node)) if value is not None and value.type in _FUNCTION_VALUES else ("", "")
    match = _SYMBOL.fullmatch(node.type)
    if match is None or (match[2] == "specifier" and node.child_by_field_name("body") is None):
        return "", ""
    return match[1].replace("_", " "), _name(node)


def _name(node: Node) -> str:
    """Return the name of a symbol; in C it is at the end of its declarators."""
    for _ in range(10):
        name = node.child_by_field_name("name")
        inner = node.child_by_field_name("declarator")
        if name is not None or inner is None:
            return _text(name or (node if node.type.endswith("identifier") else None))[:200]
        node = inner
    return ""


def _piece(name: str, node: Node, lines: list[str], path: str, kind: str) -> Piece:
    body: Any = node.child_by_field_name("body")
    header = node.text or b""
    header = header[: body.start_byte - node.start_byte] if body is not None else header.split(b"\n", 1)[0]
    signature = " ".join(header.decode("utf-8", "replace").split()).rstrip(" {:=")[:400]
    inner: Any = body.named_children[0] if body is not None and body.named_children else None
    doc = _string(inner)
    last = node.end_point[0]
    if kind not in _CALLABLE and body is not None:
        # A class ends before its members, which are pieces of their own.
        last = inner.end_point[0] if doc else body.start_point[0]
    content = "\n".join(filter(None, (f"{name}: {kind} {path}", signature, doc or _comment(node))))
    return piece(path, content, lines, node.start_point[0], max(last, node.start_point[0]))


def _string(node: Node | None) -> str:
    """Return the text of a statement that is only a string: Python's docstring."""
    if node is not None and node.type == "expression_statement" and node.named_children:
        node = node.named_children[0]
    if node is None or node.type != "string":
        return ""
    parts = [_text(part) for part in node.named_children if part.type in ("string_content", "escape_sequence")]
    return "\n".join(line.strip() for line in "".join(parts).strip().splitlines())


def _comment(node: Node) -> str:
    """Return the comments right before a symbol, without their marks."""
    while node.parent is not None and (
        node.parent.type in _WRAPPERS or (node.parent.type == "body_statement" and node.prev_named_sibling is None)
    ):
        node = node.parent
    text, before, line = "", node.prev_named_sibling, node.start_point[0]
    while before is not None and "comment" in before.type and before.end_point[0] >= line - 1:
        text = f"{_text(before)}\n{text}"
        line, before = before.start_point[0], before.prev_named_sibling
    plain = (_COMMENT_MARKS.sub("", _COMMENT_MARKS.sub("", row)).strip() for row in text.splitlines())
    return "\n".join(filter(None, plain))


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


# -- a project

# format -> (suffix -> bytes that such a file may have, its pieces)
FORMATS: dict[str, tuple[dict[str, int], Callable[[str, bytes], Iterator[Piece]]]] = {
    "code": (dict.fromkeys(LANGUAGES, MAX_CODE_BYTES), code_pieces),
    "docs": (
        {".pdf": MAX_PDF_BYTES} | dict.fromkeys(filter(None, formats.FORMATS), markdown.MAX_FILE_BYTES),
        document_pieces,
    ),
}


def index(context: Context, format: str, path: Path, report: TransferReport) -> None:
    """Update the notes of a folder, or of one file, to its present content. Raises BadInput for a missing path,
    LimpetError for a reader that is not installed."""
    sizes, pieces = FORMATS[format]
    if path.is_file() and path.suffix.lower() not in sizes:
        raise BadInput(f"{path} is no file that `import {format}` reads", hint="give a project's folder")
    path = path.resolve()
    root, only = (path, None) if path.is_dir() else (path.parent, path.name)
    there = _stored(context, format, str(root), only)

    def why_not(name: str) -> str | None:
        return "" if PurePosixPath(name).suffix.lower() in sizes else None

    names = [only] if only else list(files_below(root, why_not, report, ignore=True))
    here = set(names)
    lost = {file: known for file, known in there.items() if file not in here}
    report.note("files that are gone", sum(any(row.state == "active" for row in known) for known in lost.values()))
    gone, kept = [memory for known in lost.values() for memory in known], set[bytes]()

    def records() -> Iterator[Record]:
        for done, name in enumerate(names, 1):
            report.at(done, len(names))
            current = [memory for memory in there.get(name, ()) if memory.state != "archived"]
            content = content_of(root / name, name, sizes[PurePosixPath(name).suffix.lower()], report)
            if content is None:
                continue
            if format == "code" and b"\0" in content[:8_192]:
                report.note("binary files were skipped")
                continue
            mark = content_digest(content)
            if current and all(mark_of(memory, INDEXED).get("file_digest") == mark for memory in current):
                report.known += len(current)
                report.note("files that did not change were not read again")
                continue
            try:
                parts = list(pieces(name, content))
            except BadInput as error:
                report.bad(name, error.message)
                continue
            gone.extend(current)
            seen: Counter[str] = Counter()
            for piece in parts:
                seen[piece.key] += 1
                key = piece.key if seen[piece.key] == 1 else f"{piece.key} {seen[piece.key]}"
                record = _record(format, root, name, mark, piece._replace(key=key))
                kept.add(importer.id_of(record.id))
                yield record

    importer = Importer(context, format=format, report=report, trusted=True)
    importer.run(records())
    ids = [parse_id(memory.id) for memory in gone if memory.state == "active"]
    ids = [id for id in ids if id not in kept]
    report.note("pieces that are gone were archived", len(ids))
    for start in range(0, len(ids), BATCH):

        def archive(writer: Writer, part: Sequence[bytes] = ids[start : start + BATCH]) -> None:
            for id in part:
                writer.event("archived", id, origin=ORIGIN)

        context.write(archive)


def _stored(context: Context, format: str, root: str, only: str | None) -> dict[str, list[Memory]]:
    """Return the memories of a folder, or of one file in it, that nothing has replaced, by file."""
    there: dict[str, list[Memory]] = {}
    states = tuple(state for state in STATES if state not in ("purged", "merged"))
    where = Filter(scopes=(context.scope,), kinds=("note",), states=states)
    for memory in context.store.listings.each(where, descending=False):
        mark = mark_of(memory, INDEXED)
        ours = (mark.get("root"), mark.get("format")) == (root, format) and only in (None, mark.get("file"))
        if ours and not memory.superseded_by:
            there.setdefault(str(mark.get("file")), []).append(memory)
    return there


def _record(format: str, root: Path, name: str, file_digest: str, piece: Piece) -> Record:
    content = piece.content if len(piece.content) <= MAX_CONTENT else piece.content[: MAX_CONTENT - 4] + " ..."
    mark = {
        "format": format, "root": str(root), "file": name, "key": piece.key, "line": piece.line,
        "lines": piece.lines, "digest": piece.digest, "file_digest": file_digest,
    }  # fmt: skip
    place = f"{name}:{piece.line}" if piece.lines else f"{name} page {piece.line}"
    return Record(
        id=f"{root}/{name}#{piece.key}", place=place, content=content, kind="note", topics=piece.topics, source=place,
        metadata={INDEXED: mark},
    )  # fmt: skip


# -- memories compared with their files; ranking does not depend on it

# Larger files are taken as they are: comparing them would be felt.
MAX_COMPARED_BYTES = 50_000_000


def lines_digest(lines: Sequence[str]) -> str:
    """Return a hash of some whole lines, without line ends."""
    return content_digest("\n".join(lines).encode("utf-8", "surrogatepass"))


def content_digest(content: bytes) -> str:
    """Return a hash of the bytes of a file."""
    return hashlib.sha256(content).hexdigest()[:16]


def states(memories: Sequence[Memory]) -> list[str | None]:
    """Compare memories with their files, each file read once.

    fresh: the file has its lines. drifted: it does not. gone: there is no file. None: the memory is from no file, or
    the whole folder is not on this machine.
    """
    files: dict[Path, bytes | None] = {}
    return [_state(memory.metadata.get(INDEXED), files) for memory in memories]


def _state(mark: object, files: dict[Path, bytes | None]) -> str | None:
    """Compare with the file that a mark names: {"root", "file", "line", "lines", "digest", "file_digest", ...}."""
    if not isinstance(mark, Mapping):
        return None
    root, name, line, count = (mark.get(field) for field in ("root", "file", "line", "lines"))
    if not (isinstance(root, str) and isinstance(name, str) and isinstance(line, int) and isinstance(count, int)):
        return None
    if "\0" in root + name or ".." in Path(name).parts or not Path(root).is_dir():
        return None
    path = Path(root) / name
    if path not in files:
        files[path] = None
        with suppress(OSError):
            if path.is_file() and path.stat().st_size <= MAX_COMPARED_BYTES:
                files[path] = path.read_bytes()
    content = files[path]
    if content is None:
        return "gone"
    if content_digest(content) == mark.get("file_digest"):
        return "fresh"
    # Look for the same lines in the whole file, first where they were.
    try:
        lines = formats.split_lines(formats.decoded(content)[0])
    except BadInput:
        return "drifted"
    places = sorted(range(max(0, len(lines) - count + 1)), key=lambda at: abs(at - line + 1)) if count > 0 else []
    same = any(lines_digest(lines[at : at + count]) == mark.get("digest") for at in places)
    return "fresh" if same else "drifted"
