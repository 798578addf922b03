"""A project as notes that know where they come from: new pieces remembered, changed ones superseded, others archived.

A piece is a symbol of code, a statement of Markdown, a page of PDF. Its memory holds, under `indexed` in
its metadata, where it was read from and a digest of those lines: recall compares them with the file
(`recall/sources.py`). A file whose digest is known is not read again.
"""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from ...model.errors import BadInput, LimpetError
from ...model.ids import format_id, parse_id
from ...model.memory import STATES, Memory
from ...recall.sources import INDEXED, content_digest, lines_digest
from ...remember.decide import correct, state
from ...remember.validation import validate
from ...remember.write import Writer
from ...store.records import Filter
from ...text.secrets import redact
from . import markdown
from .records import TransferReport, digest, imported_id, is_own_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from tree_sitter import Node, Parser

    from ...context import Context

# Changes in one transaction.
BATCH = 500
MAX_CONTENT = 8_000  # characters of one note
MAX_CODE_BYTES = 1_000_000
MAX_PDF_BYTES = 50_000_000
MAX_PAGES = 5_000
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


class Piece(NamedTuple):
    """What one memory is made of. `key` names it within its file; `lines` 0: it has no lines."""

    key: str
    content: str
    line: int
    lines: int
    digest: str
    topics: tuple[str, ...] = ()


def piece(
    key: str, content: str, lines: Sequence[str], first: int, last: int, *, topics: tuple[str, ...] = ()
) -> Piece:
    """A piece of some whole lines, counted from 0, `last` included."""
    return Piece(key, content, first + 1, last - first + 1, lines_digest(lines[first : last + 1]), topics)


# -- documents


def document_pieces(name: str, content: bytes) -> Iterator[Piece]:
    """Statements of one file. Raises BadInput for a PDF that cannot be read, or when pypdf is not installed."""
    if name.lower().endswith(".pdf"):
        yield from _pages(name, content)
        return
    lines = content.decode("utf-8-sig", "replace").splitlines()
    chunks = markdown.page_of(name, lines).chunks
    for i, one in enumerate(chunks):
        end = chunks[i + 1].line - 2 if i + 1 < len(chunks) else len(lines) - 1
        start = one.line - 1
        while end > start and (not lines[end].strip() or lines[end].startswith("#")):
            end -= 1
        heading = " > ".join(one.headings)
        about = f"{name}: {heading}\n" if heading else f"{name}:\n"
        key = f"{heading}#{digest(one.text)}"
        yield piece(key, about + one.text, lines, start, end, topics=one.headings[-1:])


def _pages(name: str, content: bytes) -> Iterator[Piece]:
    import logging

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # what it mends itself is nobody's business
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError:
        raise BadInput("reading PDF needs pypdf", hint="pip install 'limpet[docs]'") from None
    try:
        for number, page in enumerate(PdfReader(io.BytesIO(content)).pages, 1):
            if number > MAX_PAGES:
                break
            text = "\n".join(line.rstrip() for line in page.extract_text().splitlines() if line.strip())
            if text:
                yield Piece(key=f"page {number}", content=f"{name}: page {number}\n{text}", line=number, lines=0,
                            digest=digest(text), topics=())  # fmt: skip
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OSError) as error:
        raise BadInput(f"not a PDF that can be read: {str(error)[:200]}") from None


# -- code: symbols with their signatures and docstrings, by tree-sitter (the extra `code`). A symbol is a function,
# method, class or the like that has a name. Its signature is what stands before its body, its docstring a string that
# begins the body or the comments right before it.

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


def code_pieces(name: str, content: bytes) -> Iterator[Piece]:
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


# -- the files of a project


def source_files(
    root: Path, wanted: Callable[[str], int], report: TransferReport
) -> Iterator[tuple[str, bytes | None]]:
    """(name relative to the folder, content) of its files; None for one that is there and was not read. `wanted`: a
    name -> how many bytes it may have, 0 = none of ours."""
    names = [root.name] if root.is_file() else list(_names(root, wanted, report))
    folder = root.parent if root.is_file() else root
    for done, name in enumerate(names, 1):
        report.at(done, len(names))
        path, content = folder / name, None
        try:
            if path.stat().st_size > wanted(name):
                report.note(f"files larger than {wanted(name):,} bytes were skipped")
            else:
                content = path.read_bytes()
        except OSError as error:
            report.bad(name, f"cannot be read: {error.strerror}")
        if content is not None and b"\0" in content[:8_192] and not content.startswith(b"%PDF"):
            report.note("binary files were skipped")
            content = None
        yield name, content


def _names(root: Path, wanted: Callable[[str], int], report: TransferReport) -> Iterator[str]:
    """What .gitignore leaves, without hidden folders, links and what is no file."""
    rules: dict[str, GitIgnoreSpec] = {}
    for place, folders, files in os.walk(root, followlinks=False):
        here = Path(place).relative_to(root).as_posix()
        base = "" if here == "." else here + "/"
        if ".gitignore" in files and (Path(place) / ".gitignore").is_file():
            from pathspec import GitIgnoreSpec

            try:
                text = (Path(place) / ".gitignore").read_text(encoding="utf-8", errors="replace")
                rules[base] = GitIgnoreSpec.from_lines(text.splitlines())
            except (OSError, ValueError) as error:
                report.bad(f"{base}.gitignore", f"cannot be read: {error}")
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in SKIPPED_FOLDERS and not _ignored(rules, f"{base}{name}/")
        )
        for file in sorted(files):
            name = base + file
            if wanted(name) and not _ignored(rules, name) and is_own_file(root / name, report):
                yield name


def _ignored(rules: dict[str, GitIgnoreSpec], name: str) -> bool:
    """The last word is that of the .gitignore nearest to the file."""
    verdict = False
    for base, spec in rules.items():
        if name.startswith(base):
            include = spec.check_file(name[len(base) :]).include
            verdict = verdict if include is None else bool(include)
    return verdict


def _wanted(format: str, name: str) -> int:
    """How many bytes a file may have that is read as code, or as documents; 0: it is not."""
    suffix = PurePosixPath(name).suffix.lower()
    if format == "code":
        return MAX_CODE_BYTES if suffix in LANGUAGES else 0
    return MAX_PDF_BYTES if suffix == ".pdf" else markdown.MAX_FILE_BYTES if suffix in markdown.SUFFIXES else 0


# -- their memories


class Indexer:
    """One refresh of one folder in one scope."""

    def __init__(
        self, context: Context, *, format: str, pieces: Callable[[str, bytes], Iterator[Piece]], report: TransferReport
    ) -> None:
        self._context = context
        self._format, self._pieces, self._report = format, pieces, report
        self._changes: list[Callable[[Writer], object]] = []
        self._root = ""

    def run(self, path: Path) -> None:
        """Raises BadInput for a path that is not there, or a reader that is not installed."""
        if not path.exists():
            raise BadInput(f"no file or folder {path}")
        wanted = partial(_wanted, self._format)
        if path.is_file() and not wanted(path.name):
            raise BadInput(f"{path} is no file that `import {self._format}` reads", hint="give a project's folder")
        path = path.resolve()
        self._root = str(path.parent if path.is_file() else path)
        there = self._there(None if path.is_dir() else path.name)
        for name, content in source_files(path, wanted, self._report):
            known = there.pop(name, {})
            if content is None:
                continue
            mark = content_digest(content)
            if known and all(
                _mark(one).get("file_digest") == mark and one.state != "archived" for one in known.values()
            ):
                self._report.known += len(known)
                self._report.note("files that did not change were not read again")
                continue
            self._refresh(name, content, known)
        for known in there.values():
            if any(one.state == "active" for one in known.values()):
                self._report.note("files that are gone")
            self._archive(known.values())
        for start in range(0, len(self._changes), BATCH):
            part = self._changes[start : start + BATCH]

            def together(writer: Writer, part: Sequence[Callable[[Writer], object]] = part) -> None:
                for change in part:
                    change(writer)

            self._context.write(together)

    def _there(self, only: str | None) -> dict[str, dict[str, Memory]]:
        """file -> key -> the memory of it that nothing has replaced."""
        found: dict[str, dict[str, Memory]] = {}
        states = tuple(one for one in STATES if one not in ("purged", "merged"))
        where = Filter(scopes=(self._context.scope,), kinds=("note",), states=states)
        for one in self._context.store.listings.each(where, descending=False):
            mark = _mark(one)
            if (mark.get("root"), mark.get("format")) != (self._root, self._format) or one.superseded_by:
                continue
            name, key = mark.get("file"), mark.get("key")
            if isinstance(name, str) and isinstance(key, str) and only in (None, name):
                found.setdefault(name, {})[key] = one
        return found

    def _refresh(self, name: str, content: bytes, known: dict[str, Memory]) -> None:
        try:
            pieces = list(self._pieces(name, content))
        except BadInput as error:
            if error.hint:  # a reader that is not installed reads no file
                raise
            self._report.bad(name, error.message)
            return
        seen: Counter[str] = Counter()
        rest = dict(known)
        for one in pieces:
            key = redact(one.key)[0]  # as its memory's metadata has it, or it is not found again
            seen[key] += 1
            key = key if seen[key] == 1 else f"{key} {seen[key]}"
            try:
                self._index(name, content_digest(content), one._replace(key=key), rest.pop(key, None))
            except LimpetError as error:
                self._report.bad(f"{name}:{one.line}", error.message)
        self._archive(rest.values())

    def _index(self, name: str, file_digest: str, one: Piece, old: Memory | None) -> None:
        content = one.content if len(one.content) <= MAX_CONTENT else one.content[: MAX_CONTENT - 4] + " ..."
        mark = {
            "format": self._format, "root": self._root, "file": name, "key": one.key, "line": one.line,
            "lines": one.lines, "digest": one.digest, "file_digest": file_digest,
        }  # fmt: skip
        id = imported_id(self._format, "\0".join((self._context.scope, self._root, name, one.key, one.digest)))
        before = self._context.store.memories.get(id)
        statement = validate(
            {
                "content": content, "kind": "note", "topics": one.topics, "origin": "import",
                "source": f"{name}:{one.line}" if one.lines else f"{name} page {one.line}",
                "metadata": {INDEXED: mark}, "id": format_id(id) if before is None else None,
            },
            scope=self._context.scope, now=self._context.now(),
        )  # fmt: skip
        statement.metadata[INDEXED]["text"] = digest(statement.content)
        if old is None:
            if before is not None and before.state in ("purged", "retracted"):
                self._report.known += 1
                return
            self._report.new += 1
            self._report.redacted += bool(statement.secrets)
            self._report.quarantined += statement.quarantine is not None
            self._changes.append(lambda writer: state(writer, statement, fresh=True))
        elif _mark(old).get("digest") != one.digest:
            if old.state not in ("active", "archived") or digest(old.content) != _mark(old).get("text"):
                self._report.bad(f"{name}:{one.line}", "changed at its source and here: left as it is here")
                return
            self._report.changed += 1
            self._changes.append(lambda writer: correct(writer, old, statement, "its source changed"))
        else:
            self._report.known += 1
            raw = parse_id(old.id)
            events = self._context.store.ledger.events(memory=raw)
            archived = [event.origin for event in events if event.type == "archived"]
            if old.state == "archived" and archived[-1:] == ["import"]:  # as it was gone, not by somebody
                self._changes.append(partial(Writer.event, type="restored", memory=raw, origin="import"))
            moved = mark | {"text": _mark(old).get("text")}
            if _mark(old) != moved and old.state != "retracted":
                data: dict[str, Any] = {"topics": list(old.topics), "metadata": {**old.metadata, INDEXED: moved}}
                self._changes.append(partial(Writer.event, type="tagged", memory=raw, origin="import", **data))

    def _archive(self, gone: Iterable[Memory]) -> None:
        for id in [parse_id(one.id) for one in gone if one.state == "active"]:
            self._report.note("pieces that are gone were archived")
            self._changes.append(partial(Writer.event, type="archived", memory=id, origin="import"))


def _mark(one: Memory) -> dict[str, Any]:
    found = one.metadata.get(INDEXED)
    return found if isinstance(found, dict) else {}
