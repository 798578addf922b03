"""Sync between devices: the ledger as immutable files of events, a folder for each device, in any shared folder.

    DIR/<device>/<number>-<digest>.jsonl    the first line a header, then one event a line (jsonl.py) with its "order"

A file's name holds the digest of its bytes, so a half-written or changed file is left out. A device
writes to its own folder only. A segment is written again under another name without purged content; its header names
the digests it replaces. The live database is never shared.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...folders import is_url
from ...model.errors import BadInput, LimpetError, StoreError
from ...store.files import check_place, new_file
from . import jsonl
from .known_devices import Devices, SegmentRow
from .merge_order import SequencedEvent
from .records import TransferReport, encode, parsed
from .schema import is_scrubbed

if TYPE_CHECKING:
    from ...store import Store
    from .service import Source

# Events that one transaction takes in.
BATCH_EVENTS = 20_000
FORMAT = 1
# What one file may hold; a device begins a new one long before.
MAX_SEGMENT_BYTES, MAX_SEGMENT_EVENTS = 64 << 20, 20_000
MAX_HEADER_BYTES = 2 << 20
# Stamps are microseconds; a forged one may not use up the numbers above it.
MAX_STAMP = 1 << 60
# A file's name has eight digits for its number. Devices that one header names, and files that one replaces.
MAX_NUMBER, MAX_NAMED = 99_999_999, 10_000
_DEVICE = re.compile(r"[0-9a-f]{32}")
_NAME = re.compile(r"(\d{8})-([0-9a-f]{32})\.jsonl")


class SegmentFile(NamedTuple):
    """A file by its name, which says what it should be."""

    path: Path
    device: bytes
    number: int
    digest: str

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"


def write(source: Source, folder: Path) -> int:
    """Write new events into this device's folder and return how many. Raises BadInput, StoreError."""
    store, report = source.store, source.report
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is not a folder")
    check_place(folder, store=store.path)
    written = 0
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        attributes = folder / ".gitattributes"
        if not os.path.lexists(attributes):  # git must not change line ends: the digest is that of the bytes
            with new_file(attributes, store=store.path) as file:
                file.write(b"*.jsonl -text\n")
        # First complete an interrupted export: names follow from content.
        for row in Devices(store).segments()[1]:
            if row.own and not _path(folder, row, row.digest).exists():
                written += _write_segment(store, folder, row, report)
        device, rows = _seal(store, folder)
        report.device = device.hex()
        own, purged = [row for row in rows if row.own], Devices(store).purged()
        for done, row in enumerate(own, 1):
            if row.num in purged or not _path(folder, row, row.digest).exists():
                events = _write_segment(store, folder, row, report)
                written += events
                if events and row.num in purged:
                    what = "segment written again without what was purged"
                    report.note(f"{what}; where the folder has a history (git, snapshots), that still holds it")
            report.at(done, len(own))
        _note_holding(store, folder, report)
    except OSError as error:
        raise StoreError(f"cannot write {error.filename or folder}: {error.strerror}") from None
    return written


def read(store: Store, folder: Path, report: TransferReport, *, dry_run: bool = False) -> None:
    """Take in what other devices wrote. Files that are not whole and events that no limpet writes are reported and left
    out. A file's bytes alone decide that, so that all devices leave out the same. Raises BadInput, StoreError."""
    if not folder.is_dir():
        raise BadInput(f"no folder {folder}")
    try:
        device, rows = Devices(store).segments() if dry_run else _seal(store, folder)
        report.device = device.hex() if device else None
        files = list(_segment_files(folder, report))
        fresh = _fresh(files, rows, report)
        trusted = {id for id in {row.device for _, row in fresh} if Devices(store).trusts(id)}
        waiting = [row for _, row in fresh if row.device not in trusted]
        fresh = [pair for pair in fresh if pair[1].device in trusted]
        batch, events = list[_Head](), list[SequencedEvent]()
        for done, (file, row) in enumerate(fresh, 1):  # no more than the events of a transaction are held at once
            try:
                events += [line._replace(segment=len(batch)) for line in _events_of(file, report)]
                batch.append((file, row))
            except LimpetError as error:
                report.bad(file.name, f"{error.message}; left out")
            if batch and (len(events) >= BATCH_EVENTS or done == len(fresh)):
                _merge(store, batch, events, report, dry_run=dry_run)
                batch, events = [], []
            report.at(done, len(fresh))
        if waiting and not dry_run:
            Devices(store).wait(waiting)
        for id, count in Counter(row.device.hex() for row in waiting).items():
            hint = f"`limpet serve device trust {id}`, then import again"
            report.bad(id, f"not trusted here, so its segments wait ({count:,}); {hint}")
        _report_missing(files, Devices(store).segments()[1], report)
        if not dry_run:
            _note_holding(store, folder, report)
    except OSError as error:
        raise StoreError(f"cannot read {error.filename or folder}: {error.strerror}") from None


# -- this device


def _seal(store: Store, folder: Path) -> tuple[bytes, list[SegmentRow]]:
    """Seal the newest events; return the identity under which this store writes, and all segments. A store is another
    device if its file was moved or copied, or if the folder has segments of this device that it does not know (it is an
    older copy)."""
    device, rows = Devices(store).segments()
    known = _known(rows)
    files = _segment_files(folder, TransferReport())
    renew = device is not None and any(file.device == device and _key(file) not in known for file in files)
    # The place is the file and its machine, which differ for a copy. A server's store has one on all machines.
    place = store.path
    if not is_url(place):
        try:
            machine = Path("/etc/machine-id").read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            machine = f"{uuid.getnode():x}"
        with contextlib.suppress(OSError):
            place = f"{Path(place).resolve()}\0{Path(place).stat().st_ino}"
        place = f"{machine}\0{place}"
    return Devices(store).seal(hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest(), renew=renew)


_Key = tuple[bytes, int, str]
_Head = tuple[SegmentFile, SegmentRow]


def _key(segment: SegmentFile | SegmentRow) -> _Key:
    return (segment.device, segment.number, segment.digest)


def _replaced(rows: Sequence[SegmentRow]) -> set[_Key]:
    """Return files that their own device wrote again since. A header speaks for no other device and number."""
    return {(row.device, row.number, old) for row in rows for old in row.header.get("replaces", ())}


def _known(rows: Sequence[SegmentRow]) -> set[_Key]:
    """Return files that are known, or were written again under another name since."""
    return set(map(_key, rows)) | _replaced(rows)


def _write_segment(store: Store, folder: Path, row: SegmentRow, report: TransferReport) -> int:
    """Write a segment as it is now, if it is not there as it is; the number of its events that were written."""
    lines = Devices(store).lines(row.num)
    header = row.header
    content, digest = _content(header, lines)
    if digest == row.digest and _path(folder, row, digest).exists():
        return 0
    if digest != row.digest and _DEVICE.fullmatch(row.digest):
        header = header | {"replaces": [*header.get("replaces", ()), row.digest]}
        content, digest = _content(header, lines)
    path = _path(folder, row, digest)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if path.parent.is_symlink():
        raise BadInput(f"{path.parent} is a link", hint="remove it: this device's folder is its own")
    # The name is a digest: another file under it is no segment.
    with new_file(path, store=store.path, force=True) as file:
        file.write(content)
    Devices(store).written(row.num, digest, header)
    for old in header.get("replaces", ()):
        _path(folder, row, old).unlink(missing_ok=True)
    report.segments += 1
    return len(lines)


def _content(header: dict[str, Any], lines: Sequence[SequencedEvent]) -> tuple[bytes, str]:
    texts = [encode(header | {"events": len(lines)})]
    texts += [f'{{"order":[{line.stamp},{line.place}],{jsonl.write_event(line.event)[1:]}' for line in lines]
    content = ("\n".join(texts) + "\n").encode()
    return content, hashlib.sha256(content).hexdigest()[:32]


def _path(folder: Path, row: SegmentRow, digest: str) -> Path:
    return folder / row.device.hex() / f"{row.number:08}-{digest}.jsonl"


# -- others' files, judged by their bytes alone


def _segment_files(folder: Path, report: TransferReport) -> Iterator[SegmentFile]:
    """Yield every file that could be a segment; others are reported."""
    for device in sorted(folder.iterdir()):
        if device.is_symlink() or not device.is_dir() or not _DEVICE.fullmatch(device.name):
            continue
        for path in sorted(device.iterdir()):
            match = _NAME.fullmatch(path.name)
            if path.name.startswith(".") or path.name.endswith(".partial"):
                continue
            if match is None or path.is_symlink() or not path.is_file():
                report.bad(f"{device.name}/{path.name}", "not a segment; left out")
                continue
            yield SegmentFile(path, bytes.fromhex(device.name), int(match[1]), match[2])


def _fresh(files: Sequence[SegmentFile], rows: Sequence[SegmentRow], report: TransferReport) -> list[_Head]:
    """Return whole segments not yet taken in, those that others build on first."""
    known = _known(rows)
    heads: list[_Head] = []
    for file in files:
        if _key(file) not in known:
            try:
                heads.append((file, _head_of(file)))
            except LimpetError as error:
                report.bad(file.name, f"{error.message}; left out")
    replaced = _replaced([row for _, row in heads])
    heads = [pair for pair in heads if _key(pair[0]) not in replaced]
    return sorted(heads, key=lambda pair: (pair[1].header["first"], pair[0].name))


def _head_of(file: SegmentFile) -> SegmentRow:
    """Parse a segment's header. Raises BadInput for one that is cut off, changed, or of a newer limpet."""
    lines = _lines(file)
    text = lines[0][1] if lines else b""
    if len(text) > MAX_HEADER_BYTES:
        raise BadInput(f"its header: longer than {MAX_HEADER_BYTES:,} bytes")
    try:
        header = parsed(text)
    except BadInput as error:
        raise BadInput(f"its header: {error.message}") from None
    if not _whole(header.get("limpet_segment")) or header["limpet_segment"] != FORMAT:
        raise BadInput("not a segment, or of a newer limpet")
    seen, replaces = header.get("seen", {}), header.get("replaces", [])
    fits = (
        all(_whole(header.get(name)) for name in ("number", "first", "events"))
        and (header.get("device"), header["number"]) == (file.device.hex(), file.number)
        and header["first"] < MAX_STAMP
        and (isinstance(seen, dict) and isinstance(replaces, list) and max(len(seen), len(replaces)) <= MAX_NAMED)
        and all(_DEVICE.fullmatch(name) and _whole(count) and count <= MAX_NUMBER for name, count in seen.items())
        and all(isinstance(digest, str) and _DEVICE.fullmatch(digest) for digest in replaces)
    )
    if not fits:
        raise BadInput("its header does not fit its name, or says what cannot be")
    if header["events"] != len(lines) - 1:
        raise BadInput("not as many events as its header says")
    known = ("limpet_segment", "device", "number", "first", "seen", "replaces", "events")
    return SegmentRow(file.device, file.number, file.digest, {name: header[name] for name in known if name in header})


def _events_of(file: SegmentFile, report: TransferReport) -> list[SequencedEvent]:
    """Return a segment's events; omitted lines are reported. Raises BadInput when it is not whole any more."""
    events: list[SequencedEvent] = []
    for number, line in _lines(file)[1:]:
        try:
            event = parsed(line)
            order = event.pop("order", None)
            if not (isinstance(order, list) and len(order) == 2 and all(map(_whole, order))) or (
                order[0] >= MAX_STAMP or order[1] >= MAX_STAMP >> 21
            ):
                raise BadInput(f"not an order: {order!r:.60}")
            events.append(SequencedEvent(jsonl.read_event(event), *order))
        except LimpetError as error:
            report.bad(file.name, f"line {number}: {error.message}; left out")
    return events


def _lines(file: SegmentFile) -> list[tuple[int, bytes]]:
    """Return (number, line) of every line that is not blank. Raises BadInput for a file that its name misdescribes."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(file.path, flags), "rb") as opened:
        content = opened.read(MAX_SEGMENT_BYTES + 1)
    if len(content) > MAX_SEGMENT_BYTES:
        raise BadInput(f"larger than {MAX_SEGMENT_BYTES >> 20} MB")
    if hashlib.sha256(content).hexdigest()[:32] != file.digest:
        raise BadInput("its bytes do not fit its name: cut off, changed, or not there in full yet")
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]
    if len(lines) > MAX_SEGMENT_EVENTS + 1:
        raise BadInput(f"more than {MAX_SEGMENT_EVENTS:,} events")
    return lines


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _merge(
    store: Store, batch: Sequence[_Head], events: Sequence[SequencedEvent], report: TransferReport, *, dry_run: bool
) -> None:
    if dry_run:
        known = sum(1 for _ in store.ledger.events(ids=[line.event.id for line in events]))
        report.segments += len(batch)
        report.new += len(events) - known
        report.known += known
        return
    held = Devices(store).merge([row for _, row in batch], events, report)
    for place in sorted(held):
        report.bad(batch[place][0].name, "speaks of memories that are in no segment here yet; that waits for them")
    report.segments += len(batch) - len(held)


def _report_missing(files: Sequence[SegmentFile], rows: Sequence[SegmentRow], report: TransferReport) -> None:
    """Report segments that are neither here nor known, though later ones or another device's header imply them."""
    there: defaultdict[str, set[int]] = defaultdict(set)
    for device, number, _ in [*map(_key, files), *map(_key, rows)]:
        there[device.hex()].add(number)
    last = Counter({name: max(numbers) for name, numbers in there.items()})
    for row in rows:
        last |= Counter(row.header.get("seen", {}))
    for name, most in sorted(last.items()):
        # A header may name any number: count the files that are there.
        missing = most - len(there[name] - {0})
        if missing:
            shown = ", ".join(map(str, islice((n for n in range(1, most) if n not in there[name]), 3)))
            more = f" and {missing - 3:,} more" if missing > 3 else ""
            report.bad(name, f"segment {shown}{more} of this device is missing")


def _note_holding(store: Store, folder: Path, report: TransferReport) -> None:
    """Report others' files that still hold purged content: only their own device writes them again."""
    affected = Devices(store).purged()
    for row in Devices(store).segments()[1]:
        path = _path(folder, row, row.digest)
        if row.own or row.num not in affected or not path.exists():
            continue
        with contextlib.suppress(LimpetError):
            events = _events_of(SegmentFile(path, row.device, row.number, row.digest), TransferReport())
            if any(line.event.memory in affected[row.num] and not is_scrubbed(line.event) for line in events):
                report.note(
                    f"{row.device.hex()}/{path.name} still holds what was purged, until its device imports and exports"
                )
