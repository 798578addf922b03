"""A project as notes that know where they come from: new pieces remembered, changed ones superseded, others archived.

A piece is a symbol of code (`code.py`), a statement of Markdown, a page of PDF. Its memory holds, under `indexed` in
its metadata, where it was read from and a digest of those lines: recall compares them with the file
(`recall/sources.py`). A file whose digest is known is not read again.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
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
    return _pages(name, content) if name.lower().endswith(".pdf") else _statements(name, content)


def _statements(name: str, content: bytes) -> Iterator[Piece]:
    lines = content.decode("utf-8-sig", "replace").splitlines()
    chunks = markdown.page_of(name, lines, None).chunks
    for i, one in enumerate(chunks):
        end = chunks[i + 1].line - 2 if i + 1 < len(chunks) else len(lines) - 1
        start = one.line - 1
        while end > start and (not lines[end].strip() or lines[end].startswith("#")):
            end -= 1
        heading = " > ".join(one.headings)
        key = f"{heading}#{digest(one.text)}"
        about = f"{name}: {heading}\n" if heading else f"{name}:\n"
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


# -- the files of a project


class SourceFile(NamedTuple):
    """A file as it is now. `content` None: it is there and was not read."""

    name: str  # relative to the folder, with /
    content: bytes | None
    digest: str


def source_files(root: Path, wanted: Callable[[str], int], report: TransferReport) -> Iterator[SourceFile]:
    """Files of a folder, by name. `wanted`: a name -> how many bytes it may have, 0 = none of ours."""
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
        yield SourceFile(name, content, content_digest(content) if content is not None else "")


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
        from .code import LANGUAGES

        return MAX_CODE_BYTES if suffix in LANGUAGES else 0
    return MAX_PDF_BYTES if suffix == ".pdf" else markdown.MAX_FILE_BYTES if suffix in markdown.SUFFIXES else 0


# -- their memories


Change = Callable[[Writer], Any]


class Indexer:
    """One refresh of one folder in one scope."""

    def __init__(
        self, context: Context, *, format: str, pieces: Callable[[str, bytes], Iterator[Piece]], dry_run: bool,
        report: TransferReport,
    ) -> None:  # fmt: skip
        self._context = context
        self._format, self._pieces, self._dry_run, self._report = format, pieces, dry_run, report
        self._changes: list[Change] = []
        self._root = ""

    def run(self, path: Path) -> TransferReport:
        """Raises BadInput for a path that is not there, or a reader that is not installed."""
        if not path.exists():
            raise BadInput(f"no file or folder {path}")
        wanted = partial(_wanted, self._format)
        if path.is_file() and not wanted(path.name):
            raise BadInput(f"{path} is no file that `import {self._format}` reads", hint="give a project's folder")
        path = path.resolve()
        self._root = str(path.parent if path.is_file() else path)
        there = self._there(None if path.is_dir() else path.name)
        for file in source_files(path, wanted, self._report):
            known = there.pop(file.name, {})
            if file.content is None:
                continue
            if known and all(
                _mark(one).get("file_digest") == file.digest and one.state != "archived" for one in known.values()
            ):
                self._report.known += len(known)
                self._report.note("files that did not change were not read again")
                continue
            self._refresh(file, known)
        for known in there.values():
            self._report.note("files that are gone", 1 if any(one.state == "active" for one in known.values()) else 0)
            self._archive(known.values())
        self._flush()
        self._report.notes = +self._report.notes
        return self._report

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

    def _refresh(self, file: SourceFile, known: dict[str, Memory]) -> None:
        assert file.content is not None
        seen: Counter[str] = Counter()
        rest = dict(known)
        try:
            pieces = list(self._pieces(file.name, file.content))
        except BadInput as error:
            if error.hint:  # a reader that is not installed reads no file
                raise
            self._report.bad(file.name, error.message)
            return
        for place, one in enumerate(pieces):
            key = redact(one.key)[0]  # as its memory's metadata has it, or it is not found again
            seen[key] += 1
            pieces[place] = one._replace(key=key if seen[key] == 1 else f"{key} {seen[key]}")
        reworded = _reworded(pieces, known)
        for one in pieces:
            try:
                self._index(file, one, rest.pop(reworded.get(one.key, one.key), None))
            except LimpetError as error:
                self._report.bad(f"{file.name}:{one.line}", error.message)
        self._archive(rest.values())

    def _index(self, file: SourceFile, one: Piece, old: Memory | None) -> None:
        content = one.content if len(one.content) <= MAX_CONTENT else one.content[: MAX_CONTENT - 4] + " ..."
        mark = {
            "format": self._format, "root": self._root, "file": file.name, "key": one.key, "line": one.line,
            "lines": one.lines, "digest": one.digest, "file_digest": file.digest,
        }  # fmt: skip
        id = imported_id(self._format, "\0".join((self._context.scope, self._root, file.name, one.key, one.digest)))
        before = self._context.store.memories.get(id)
        statement = validate(
            {
                "content": content,
                "kind": "note",
                "topics": one.topics,
                "source": f"{file.name}:{one.line}" if one.lines else f"{file.name} page {one.line}",
                "origin": "import",
                "metadata": {INDEXED: mark},
                "id": format_id(id) if before is None else None,
            },
            scope=self._context.scope,
            now=self._context.now(),
        )
        statement.metadata[INDEXED]["text"] = digest(statement.content)
        if old is None:
            if before is not None and before.state in ("purged", "retracted"):
                self._report.known += 1
                return
            self._report.new += 1
            self._report.redacted += bool(statement.secrets)
            self._report.quarantined += statement.quarantine is not None
            self._change(lambda writer: state(writer, statement, fresh=True))
        elif _mark(old).get("digest") != one.digest:
            if old.state not in ("active", "archived") or digest(old.content) != _mark(old).get("text"):
                self._report.bad(f"{file.name}:{one.line}", "changed at its source and here: left as it is here")
                return
            self._report.changed += 1
            self._change(lambda writer: correct(writer, old, statement, "its source changed"))
        else:
            self._report.known += 1
            raw = parse_id(old.id)
            events = self._context.store.ledger.events(memory=raw)
            archived = [event.origin for event in events if event.type == "archived"]
            if old.state == "archived" and archived[-1:] == ["import"]:  # as it was gone, not by somebody
                self._change(lambda writer: writer.event("restored", raw, origin="import"))
            moved = mark | {"text": _mark(old).get("text")}
            if _mark(old) != moved and old.state != "retracted":
                metadata = {**old.metadata, INDEXED: moved}
                self._change(lambda writer: writer.event("tagged", raw, origin="import", topics=list(old.topics),
                                                         metadata=metadata))  # fmt: skip

    def _archive(self, gone: Iterable[Memory]) -> None:
        for one in gone:
            if one.state == "active":
                self._report.note("pieces that are gone were archived")
                self._change(partial(_archive, parse_id(one.id)))

    def _change(self, change: Change) -> None:
        self._changes.append(change)
        if len(self._changes) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        changes, self._changes = self._changes, []

        def all_of_them(writer: Writer) -> None:
            for change in changes:
                change(writer)

        if changes and not self._dry_run:
            self._context.write(all_of_them)


def _archive(id: bytes, writer: Writer) -> None:
    writer.event("archived", id, origin="import")


def _mark(one: Memory) -> dict[str, Any]:
    found = one.metadata.get(INDEXED)
    return found if isinstance(found, dict) else {}


def _reworded(pieces: Sequence[Piece], known: dict[str, Memory]) -> dict[str, str]:
    """new key -> old key, for statements of a document that stand in the place of others below the same heading."""
    keys = {one.key for one in pieces}
    new: dict[str, list[str]] = {}
    old: dict[str, list[str]] = {}
    for one in pieces:
        if "#" in one.key and one.key not in known:
            new.setdefault(one.key.rpartition("#")[0], []).append(one.key)
    for key, memory in sorted(known.items(), key=lambda pair: _mark(pair[1]).get("line", 0)):
        if "#" in key and key not in keys and memory.state == "active":
            old.setdefault(key.rpartition("#")[0], []).append(key)
    return {
        after: before
        for heading, several in new.items()
        if len(several) == len(old.get(heading, ()))
        for after, before in zip(several, old[heading], strict=True)
    }
