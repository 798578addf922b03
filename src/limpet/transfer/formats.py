"""The formats by name. A reader or writer is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from ..model.errors import BadInput, StoreError
from .record import Record, Report

# name -> (module, function, what it reads). jsonl is not among them: it is the ledger itself.
READERS: dict[str, tuple[str, str, str]] = {
    "memori": ("memori", "read", "a Memori database, or its JSONL"),
    "amem": ("amem", "read", "an .amem file of AgenticMemory"),
}

Reader = Callable[[Path, Report], Iterator[Record]]


def reader(format: str) -> Reader:
    """Raises BadInput for a name that is not known."""
    if format not in READERS:
        raise BadInput(f"the format {format[:60]!r} is not known", hint=f"formats: jsonl, {', '.join(READERS)}")
    module, name, _ = READERS[format]
    found: Reader = getattr(import_module(f".{module}", __package__), name)
    return found


def records(format: str, path: Path, report: Report) -> Iterator[Record]:
    """What is in a file or folder. What the file system says becomes a limpet error."""
    read = reader(format)
    if not path.exists():
        raise BadInput(f"no file or folder {path}")
    try:
        yield from read(path, report)
    except OSError as error:
        raise StoreError(f"cannot read {error.filename or path}: {error.strerror}") from None
