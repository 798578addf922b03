"""Documents of a project: statements of Markdown with their lines, pages of PDF (the extra `docs`)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import PurePosixPath

from ...model.errors import BadInput
from . import markdown
from .project import Piece, piece
from .records import digest

MAX_PDF_BYTES = 50_000_000
MAX_PAGES = 5_000


def wanted(name: str) -> int:
    suffix = PurePosixPath(name).suffix.lower()
    return MAX_PDF_BYTES if suffix == ".pdf" else markdown.MAX_FILE_BYTES if suffix in markdown.SUFFIXES else 0


def pieces(name: str, content: bytes) -> Iterator[Piece]:
    """Statements of one file. Raises BadInput for a PDF that cannot be read, or when pypdf is not installed."""
    return _pages(name, content) if name.lower().endswith(".pdf") else _statements(name, content)


def _statements(name: str, content: bytes) -> Iterator[Piece]:
    lines = content.decode("utf-8-sig", "replace").splitlines()
    page = markdown.page_of(name, "\n".join(lines), None)
    for i, one in enumerate(page.chunks):
        end = page.chunks[i + 1].line - 2 if i + 1 < len(page.chunks) else len(lines) - 1
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
