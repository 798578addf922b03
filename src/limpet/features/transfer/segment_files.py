"""Segment files as others wrote them: which there are, whether one is whole, and the events that it holds.

A file is judged by its bytes alone: what is in the store makes no difference. It is read line by line.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from ...model.errors import BadInput, LimpetError
from ...model.merge_order import SequencedEvent
from ...store.records import SegmentRow
from . import jsonl, records
from .records import parsed

FORMAT = 1
# What one file may hold; a device begins a new one long before.
MAX_SEGMENT_BYTES, MAX_SEGMENT_EVENTS = 64 << 20, 20_000
MAX_HEADER_BYTES = 2 << 20
# Stamps are microseconds; a forged one may not use up the numbers above it.
MAX_STAMP = 1 << 60
# A file's name has eight digits for its number. Devices that one header names, and files that one replaces.
MAX_NUMBER, MAX_NAMED = 99_999_999, 10_000
DEVICE = re.compile(r"[0-9a-f]{32}")
_NAME = re.compile(r"(\d{8})-([0-9a-f]{32})\.jsonl(?:\.age)?")


class SegmentFile(NamedTuple):
    """A file by its name, which says what it should be."""

    path: Path
    device: bytes
    number: int
    digest: str

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"


def segment_files(folder: Path, problems: list[tuple[str, str]]) -> Iterator[SegmentFile]:
    """Every file that could be a segment; what is none is added to `problems`."""
    for device in sorted(folder.iterdir()):
        if device.name.startswith(".") or device.is_symlink() or not device.is_dir():
            continue
        if not DEVICE.fullmatch(device.name):
            continue
        for path in sorted(device.iterdir()):
            found = _NAME.fullmatch(path.name)
            if path.name.startswith(".") or path.name.endswith(".partial"):
                continue
            if found is None or path.is_symlink() or not path.is_file():
                problems.append((f"{device.name}/{path.name}", "not a segment; left out"))
                continue
            yield SegmentFile(path, bytes.fromhex(device.name), int(found[1]), found[2])


def head_of(file: SegmentFile) -> SegmentRow:
    """What a segment says of itself. Raises BadInput for one that is cut off, changed, or of a newer limpet."""
    header: bytes | None = None
    events = 0
    for _, line in _lines(file):
        if header is None:
            header = line
        else:
            events += 1
    # Its bytes fit its name: only now it is worth a word what they say.
    found = _check_header(header or b"", file)
    if found["events"] != events:
        raise BadInput("not as many events as its header says")
    return SegmentRow(file.device, file.number, file.digest, found)


def events_of(file: SegmentFile) -> tuple[list[SequencedEvent], list[str]]:
    """Its events, and what is wrong with lines that are left out. Raises BadInput when it is not whole any more."""
    events: list[SequencedEvent] = []
    bad: list[str] = []
    lines = _lines(file)
    next(lines, None)  # the header
    for number, line in lines:
        try:
            event = parsed(line)
            order = event.pop("order", None)
            if not (isinstance(order, list) and len(order) == 2 and all(map(_whole, order))) or (
                order[0] >= MAX_STAMP or order[1] >= MAX_STAMP >> 21
            ):
                raise BadInput(f"not an order: {order!r:.60}")
            events.append(SequencedEvent(jsonl.read_event(event), *order))
        except LimpetError as error:
            bad.append(f"line {number}: {error.message}")
    return events, bad


def _lines(file: SegmentFile) -> Iterator[tuple[int, bytes]]:
    """(number, line) of every line that is not blank. Raises BadInput, at the end for one that was changed."""
    digest = hashlib.sha256()
    number = events = 0
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with contextlib.ExitStack() as stack:
        opened: IO[bytes] = stack.enter_context(os.fdopen(os.open(file.path, flags), "rb"))
        if os.fstat(opened.fileno()).st_size > MAX_SEGMENT_BYTES:
            raise BadInput(f"larger than {MAX_SEGMENT_BYTES >> 20} MB")
        if file.path.suffix == jsonl.AGE_SUFFIX:
            opened = io.BytesIO(jsonl.decrypt_age(opened.read(), file.name))
        while line := opened.readline(records.MAX_LINE + 1):
            number += 1
            kept = line
            digest.update(line)
            while len(line) > records.MAX_LINE and not line.endswith(b"\n"):
                line = opened.readline(records.MAX_LINE + 1)
                digest.update(line)
            if kept.strip():
                events += 1
                if events > MAX_SEGMENT_EVENTS + 1:
                    raise BadInput(f"more than {MAX_SEGMENT_EVENTS:,} events")
                yield number, kept
    if digest.hexdigest()[:32] != file.digest:
        raise BadInput("its bytes do not fit its name: cut off, changed, or not there in full yet")


def _check_header(text: bytes, file: SegmentFile) -> dict[str, Any]:
    """What a header says that is known here. Raises BadInput."""
    if len(text) > MAX_HEADER_BYTES:
        raise BadInput(f"its header: longer than {MAX_HEADER_BYTES:,} bytes")
    try:
        line = parsed(text)
    except BadInput as error:
        raise BadInput(f"its header: {error.message}") from None
    if not _whole(line.get("limpet_segment")) or line["limpet_segment"] != FORMAT:
        raise BadInput("not a segment, or of a newer limpet")
    seen, replaces = line.get("seen", {}), line.get("replaces", [])
    fits = (
        line.get("device") == file.device.hex()
        and all(_whole(line.get(name)) for name in ("number", "first", "events"))
        and line["number"] == file.number
        and line["first"] < MAX_STAMP
        and isinstance(seen, dict)
        and len(seen) <= MAX_NAMED
        and all(DEVICE.fullmatch(name) and _whole(count) and count <= MAX_NUMBER for name, count in seen.items())
        and isinstance(replaces, list)
        and len(replaces) <= MAX_NAMED
        and all(isinstance(one, str) and DEVICE.fullmatch(one) for one in replaces)
    )
    if not fits:
        raise BadInput("its header does not fit its name, or says what cannot be")
    known = ("limpet_segment", "device", "number", "first", "seen", "replaces", "events")
    return {name: line[name] for name in known if name in line}


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
