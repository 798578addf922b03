"""Reading files that may be anything: lines and JSON in bounded memory, archives with a limit on their size."""

from __future__ import annotations

import codecs
import contextlib
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ...model.errors import BadInput
from ...store.foreign import Cell, ForeignFile, TooLarge
from . import jsonl
from .records import TransferReport

# The largest item of a JSON array.
MAX_ITEM_CHARACTERS = 32_000_000
# What an archive may unpack to, and how far: exports of chats pack about 8 to 1.
MAX_UNPACKED_BYTES = 4 << 30
MAX_RATIO = 200
FREE_BYTES = 64 << 20  # below this no ratio is too high
CHUNK = 1 << 20

_SPACE = re.compile(r"\s*")
# What zipfile raises for archives that are broken, encrypted or of an unknown kind.
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


def json_lines(path: Path, report: TransferReport) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of every line that is one; the others go into the report. Raises BadInput."""
    total, done = path.stat().st_size, 0
    with path.open("rb") as file:
        if b"\0" in file.read(4_096):
            raise BadInput(f"{path} is not text")
        file.seek(0)
        for number, line in enumerate(jsonl.bounded(file), 1):
            done += len(line)
            if number % 500 == 0:
                report.at(done, total)
            try:
                if line.strip():
                    yield number, jsonl.parsed(line)
            except BadInput as error:
                report.bad(f"line {number}", error.message)
    report.at(total, total)


@contextlib.contextmanager
def database(
    path: Path, report: TransferReport, *, what: str, needs: tuple[str, str], inner: str = ""
) -> Iterator[ForeignFile]:
    """`path`, or in a folder the file `inner`. `needs`: a table, and its columns. Damage is reported.

    Raises BadInput.
    """
    if inner and path.is_dir():
        path = path / inner
        if not path.is_file():
            raise BadInput(f"{path.parent} holds no {inner}")
    with ForeignFile(path) as file:
        table, columns = needs
        if not file.has(table, *columns.split()):
            raise BadInput(f"{path} is no {what}: it has no table of {table}")
        report_damage(file, report)
        yield file


def report_damage(file: ForeignFile, report: TransferReport) -> None:
    """Say that a database is damaged; what can be read of it is read all the same."""
    damage = file.damage()
    if damage is not None:
        report.bad(file.path.name, f"{damage}. What can be read is taken; a repaired copy: sqlite3 FILE .recover")


def table_rows(
    file: ForeignFile, table: str, columns: str, report: TransferReport, *, named: str = "row"
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(place, cells by name, texts read) of every row; one that cannot be read goes into the report."""
    names, total = columns.split(), file.count(table)
    for number, row in enumerate(file.rows(table, names), 1):
        if number % 500 == 0 or number == total:
            report.at(number, total)
        try:
            cells = {name: _cell(cell, name) for name, cell in zip(names, row, strict=True)}
        except BadInput as error:
            report.bad(f"{named} {number}", error.message)
        else:
            yield f"{named} {number}", cells


def _cell(value: Cell, name: str) -> Any:
    """A cell of a foreign database, its text read. Raises BadInput."""
    if isinstance(value, TooLarge):
        raise BadInput(f"{name} is too long: {value:,} bytes")
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8: {error.reason} at {error.start}") from None


def json_object(text: Any, what: str, place: str, report: TransferReport) -> dict[str, Any]:
    """The object that a cell holds as JSON. Anything else is reported, and the record goes on without it."""
    if not text:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError, TypeError) as error:
        report.bad(place, f"{what} is not JSON: {error}; taken without it")
        return {}
    if isinstance(value, dict):
        return value
    report.bad(place, f"{what} is no object; taken without it")
    return {}


def json_items(file: IO[bytes] | Limited, name: str) -> Iterator[Any]:
    """The items of a JSON array, one at a time, or the one value that a file holds; only the part that is being read is
    in memory. Raises BadInput where it breaks.
    """
    decode = codecs.getincrementaldecoder("utf-8-sig")().decode
    parse = json.JSONDecoder().raw_decode
    text, at, before, ended, size = "", 0, 0, False, CHUNK
    is_array: bool | None = None
    items = 0

    def problem(what: str) -> BadInput:
        return BadInput(f"{name} {what} at character {before + at:,}")

    while True:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        if at < len(text) and is_array is None:
            is_array = text[at] == "["
            at = _SPACE.match(text, at + is_array).end()  # type: ignore[union-attr]
        if is_array and not items and text[at : at + 1] == "]":
            return
        try:
            value, end = parse(text, at)
            behind = _SPACE.match(text, end).end()  # type: ignore[union-attr]
            # A number may go on behind the part that was read.
            whole, error = ended or (is_array and text[behind : behind + 1] in (",", "]")), None
        except RecursionError:
            raise problem("is nested too deeply") from None
        except ValueError as wrong:
            whole, error = False, wrong
        if whole:
            yield value
            items += 1
            mark = text[behind : behind + 1]
            if (not is_array and not mark) or (is_array and mark == "]"):
                return
            at, size = behind, CHUNK
            if mark != "," or not is_array:
                raise problem("is not JSON, or was cut off,")
            at += 1
            continue
        if len(text) - at > MAX_ITEM_CHARACTERS:
            raise problem("holds an item that is too large")
        if ended:
            raise problem(f"is not JSON, or was cut off ({error}),")
        try:
            raw = file.read(size)
            ended, size = not raw, min(2 * size, 4 * CHUNK)
            text, before, at = text[at:] + decode(raw, ended), before + at, 0
        except UnicodeDecodeError as wrong:
            raise BadInput(f"{name} is not UTF-8: {wrong.reason}") from None


class Limited:
    """A stream that refuses to give more than a limit, whatever was declared."""

    def __init__(self, file: IO[bytes], limit: int, name: str) -> None:
        self._file, self._left, self._name = file, limit, name

    def read(self, size: int = -1) -> bytes:
        try:
            part = self._file.read(min(size, CHUNK) if size > 0 else CHUNK)
        except BROKEN_ZIP as error:
            raise BadInput(f"{self._name} is damaged: {error or type(error).__name__}") from None
        self._left -= len(part)
        if self._left < 0:
            raise BadInput(f"{self._name} unpacks to more than it may: refused")
        return part


@contextlib.contextmanager
def member(path: Path, wanted: str) -> Iterator[tuple[Limited, str]]:
    """A file itself, or from a zip archive (or a folder) the member of that name. Raises BadInput."""
    if path.is_dir():
        inner = path / wanted
        if not inner.is_file():
            raise BadInput(f"{path} holds no {wanted}")
        path = inner
    try:
        packed = zipfile.is_zipfile(path)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
    if not packed:
        with path.open("rb") as file:
            if file.read(4) == b"PK\x03\x04":
                raise BadInput(f"{path} is a damaged archive, or was cut off")
            file.seek(0)
            yield Limited(file, MAX_UNPACKED_BYTES, path.name), path.name
        return
    try:
        archive = zipfile.ZipFile(path)
    except BROKEN_ZIP as error:
        raise BadInput(f"{path} is a damaged archive: {error}") from None
    with archive:
        found = [one for one in archive.infolist()[:100_000] if Path(one.filename).name == wanted]
        if not found:
            raise BadInput(f"{path} holds no {wanted}")
        one = min(found, key=lambda info: len(info.filename))
        limit = min(MAX_UNPACKED_BYTES, max(FREE_BYTES, one.compress_size * MAX_RATIO))
        if one.file_size > limit:
            raise BadInput(
                f"{wanted} in {path} would unpack from {one.compress_size:,} to {one.file_size:,} bytes: refused"
            )
        try:
            unpacked = archive.open(one)
        except BROKEN_ZIP as error:
            raise BadInput(f"{wanted} in {path} cannot be read: {error or type(error).__name__}") from None
        with unpacked:
            yield Limited(unpacked, limit, f"{wanted} in {path}"), one.filename
