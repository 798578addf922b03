"""Sync between devices: the ledger as immutable files of events, a folder a device, in any shared folder.

    DIR/<device>/<number>-<digest>.jsonl    the first line a header, then one event a line (jsonl.py) with its "order";
                                  .jsonl.age    the same, encrypted

A file's name holds the digest of its bytes, before they are encrypted, so what is half-written, cut off or changed is
seen and left out, and two devices never write one file. A device writes its own folder only. A segment is written
again, without what was purged, under another name; its header then names the digests it replaces. The live database is
never shared.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...folders import is_url
from ...model.dataclass import dataclass, field
from ...model.encode import OPTIONAL, JsonForm, rows
from ...model.errors import BadInput, LimpetError, NotFound, StoreError
from ...model.merge_order import SequencedEvent
from ...model.state import is_scrubbed
from ...store.files import check_place, new_file
from ...store.records import SegmentRow
from . import jsonl
from .records import encode
from .segment_files import DEVICE, SegmentFile, events_of, head_of, segment_files

if TYPE_CHECKING:
    from ...context import Context
    from ...store import Store

Progress = Callable[[int, int], None]
# Events that one transaction takes in.
BATCH_EVENTS = 20_000
# Bad lines of a file that are reported one by one.
MAX_LISTED = 20


@dataclass(slots=True, kw_only=True)
class SegmentReport(JsonForm):
    """What an export or import of segments did."""

    device: str = ""
    segments: int = 0  # written, or taken in
    new: int = 0  # events
    known: int = 0  # events
    conflicts: int = 0  # new on the review list
    purged: int = 0  # memories whose content other devices purged and this import erased here
    untrusted: dict[str, int] = field(default_factory=dict, metadata=OPTIONAL)  # events that wait, by device
    problems: list[tuple[str, str]] = field(
        default_factory=list, metadata=rows("file", "reason")
    )  # (file, what is wrong with it)
    notes: list[str] = field(default_factory=list)


_Head = tuple[SegmentFile, SegmentRow]


class _Read(NamedTuple):
    file: SegmentFile
    row: SegmentRow
    lines: list[SequencedEvent]


def export_segments(
    store: Store, folder: Path, *, encrypt: bool = False, progress: Progress | None = None
) -> SegmentReport:
    """Write what is new here into this device's folder. Nothing that another device wrote is touched. `encrypt`: as
    files of age, which is also done where the folder has any.

    Raises BadInput, StoreError.
    """
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is not a folder")
    check_place(folder, store=store.path)
    report = SegmentReport()
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        attributes = folder / ".gitattributes"
        if not os.path.lexists(attributes):  # git must not change line ends: the digest is that of the bytes
            with new_file(attributes, store=store.path) as file:
                file.write(b"*.jsonl -text\n")
        encrypt = encrypt or any(folder.glob(f"*/*{jsonl.AGE_SUFFIX}"))
        # What an export that was interrupted had begun comes first: its names follow from its content.
        for one in store.devices.segments()[1]:
            if one.own and not _path(folder, one, one.digest, encrypt).exists():
                _write(store, folder, one, report, encrypt)
        device, rows = _seal(store, folder)
        report.device = device.hex()
        own, purged, again = [one for one in rows if one.own], store.devices.purged(), 0
        for done, one in enumerate(own, 1):
            if one.num in purged or not _path(folder, one, one.digest, encrypt).exists():
                again += _write(store, folder, one, report, encrypt) and one.num in purged
            if progress:
                progress(done, len(own))
        if again:
            report.notes.append(
                f"{again} segments were written again without what was purged; where the folder has a history (git, "
                "snapshots), that still holds it"
            )
        _report_holding(store, folder, report)
    except FileNotFoundError:
        raise BadInput(
            f"cannot write to {folder}", hint="give the path of a folder in a folder that is there"
        ) from None
    except OSError as error:
        raise StoreError(f"cannot write {error.filename or folder}: {error.strerror}") from None
    return report


def import_segments(
    store: Store, folder: Path, *, dry_run: bool = False, progress: Progress | None = None
) -> SegmentReport:
    """Take in what other devices wrote. A file that is not whole is reported and left out, and so is an event that no
    limpet writes; the rest goes in. The bytes of a file alone decide which, so that all devices leave out the same.

    Raises BadInput, StoreError.
    """
    if not folder.is_dir():
        raise BadInput(f"no folder {folder}")
    report = SegmentReport()
    try:
        device, rows = store.devices.segments() if dry_run else _seal(store, folder)
        report.device = device.hex() if device else ""
        files = list(segment_files(folder, report.problems))
        fresh = _fresh(files, rows, report)
        # What a trusted device began is not begun by another that says the same.
        trusted = store.devices.trusted()
        fresh.sort(key=lambda one: one[0].device not in trusted)
        batch: list[_Read] = []
        for done, (file, row) in enumerate(fresh, 1):  # no more than the events of a transaction are held at once
            try:
                lines, bad = events_of(file)
            except LimpetError as error:
                bad = [error.message]
            else:
                batch.append(_Read(file, row, lines))
            report.problems += [(file.name, f"{reason}; left out") for reason in bad[:MAX_LISTED]]
            if len(bad) > MAX_LISTED:
                report.problems.append((file.name, f"{len(bad) - MAX_LISTED:,} more lines left out"))
            if batch and (sum(len(part.lines) for part in batch) >= BATCH_EVENTS or done == len(fresh)):
                _merge(store, batch, report, dry_run=dry_run)
                batch = []
            if progress:
                progress(done, len(fresh))
        for id, count in report.untrusted.items():
            what = f"not trusted: {count:,} of its events speak of what it did not say, and wait"
            report.problems.append((id, f"{what}; `limpet serve device`"))
        _report_missing(files, store.devices.segments()[1], report)
        if not dry_run:
            _report_holding(store, folder, report)
    except OSError as error:
        raise StoreError(f"cannot read {error.filename or folder}: {error.strerror}") from None
    return report


# -- this device


def _seal(store: Store, folder: Path) -> tuple[bytes, list[SegmentRow]]:
    """The identity under which this store writes, and all segments, its newest events among them.

    The store is another device when its file was copied (it is not where it was), or put back from an older copy (the
    folder has segments of this device that the store does not know).
    """
    device, rows = store.devices.segments()
    known = _digests(rows)
    renew = device is not None and any(
        file.device == device and _key(file) not in known for file in segment_files(folder, [])
    )
    return store.devices.seal(place_of(store.path), renew=renew)


def place_of(path: str) -> str:
    """Which file on which machine: another one for a copy. A server's store is the same from all machines."""
    if is_url(path):
        return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
    try:
        machine = Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        machine = f"{uuid.getnode():x}"
    try:
        file = Path(path).resolve()
        where = f"{file}\0{file.stat().st_ino}"
    except OSError:
        where = path
    return hashlib.sha256(f"{machine}\0{where}".encode("utf-8", "surrogatepass")).hexdigest()


_Key = tuple[bytes, int, str]


def _key(one: SegmentFile | SegmentRow) -> _Key:
    return (one.device, one.number, one.digest)


def _replaced(rows: Iterable[SegmentRow]) -> set[_Key]:
    """Files that their own device wrote again since. A header speaks for no other device and number."""
    return {(one.device, one.number, old) for one in rows for old in one.header.get("replaces", ())}


def _digests(rows: Sequence[SegmentRow]) -> set[_Key]:
    """Files that are known, or stand for a file that was written again since."""
    return {_key(one) for one in rows} | _replaced(rows)


def _write(store: Store, folder: Path, one: SegmentRow, report: SegmentReport, encrypt: bool) -> bool:
    """Write a segment as it is now. False: it is as it was."""
    lines = store.devices.lines(one.num)
    header = one.header
    content, digest = _content(header, lines)
    path = _path(folder, one, digest, encrypt)
    if digest == one.digest and path.exists():
        return False
    if digest != one.digest and DEVICE.fullmatch(one.digest):
        header = one.header | {"replaces": [*one.header.get("replaces", ()), one.digest]}
        content, digest = _content(header, lines)
        path = _path(folder, one, digest, encrypt)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if path.parent.is_symlink():
        raise BadInput(f"{path.parent} is a link", hint="remove it: this device's folder is its own")
    # The name says what is in it: what else is there under it is no segment.
    with new_file(path, store=store.path, force=True) as file:
        file.write(jsonl.encrypt_age(content, recipients_only=True) if encrypt else content)
    store.devices.written(one.num, digest, header)
    for old in header.get("replaces", ()):
        for form in (False, True):
            _path(folder, one, old, form).unlink(missing_ok=True)
    if encrypt:
        _path(folder, one, digest, False).unlink(missing_ok=True)
    report.segments += 1
    report.new += len(lines)
    return True


def _content(header: dict[str, Any], lines: Sequence[SequencedEvent]) -> tuple[bytes, str]:
    texts = [encode(header | {"events": len(lines)})]
    texts += [f'{{"order":[{line.stamp},{line.place}],{jsonl.write_event(line.event)[1:]}' for line in lines]
    content = ("\n".join(texts) + "\n").encode()
    return content, hashlib.sha256(content).hexdigest()[:32]


def _path(folder: Path, one: SegmentRow, digest: str, encrypted: bool) -> Path:
    return folder / one.device.hex() / f"{one.number:08}-{digest}.jsonl{jsonl.AGE_SUFFIX if encrypted else ''}"


# -- what others wrote


def _fresh(files: Sequence[SegmentFile], rows: Sequence[SegmentRow], report: SegmentReport) -> list[_Head]:
    """Segments that were not taken in yet and are whole, those that others build on first."""
    known = _digests(rows)
    heads: list[_Head] = []
    for file in files:
        if _key(file) in known:
            continue
        try:
            heads.append((file, head_of(file)))
        except LimpetError as error:
            report.problems.append((file.name, f"{error.message}; left out"))
    replaced = _replaced(row for _, row in heads)
    heads = [one for one in heads if _key(one[0]) not in replaced]
    return sorted(heads, key=lambda one: (one[1].header["first"], one[0].name))


def _merge(store: Store, batch: Sequence[_Read], report: SegmentReport, *, dry_run: bool) -> None:
    if dry_run:
        ids = [line.event.id for one in batch for line in one.lines]
        known = sum(1 for _ in store.ledger.events(ids=ids))
        report.segments, report.new, report.known = (
            report.segments + len(batch), report.new + len(ids) - known, report.known + known)  # fmt: skip
        return
    purged = [line.event.memory for one in batch for line in one.lines if line.event.type == "purged"]
    texts, others = store.erasure.pieces(purged)
    merged = store.devices.merge(
        [one.row for one in batch], [line._replace(segment=i) for i, one in enumerate(batch) for line in one.lines]
    )
    if merged.purged:
        store.erasure.scour([*texts, *others])
    for place in merged.held:
        report.problems.append(
            (batch[place].file.name, "speaks of memories that are in no segment here yet; that waits until they come")
        )
    for place, count in sorted(merged.waiting.items()):
        device = batch[place].row.device.hex()
        report.untrusted[device] = report.untrusted.get(device, 0) + count
    report.segments += len(batch) - len({*merged.held, *merged.waiting})
    report.new += merged.new
    report.known += merged.known
    report.conflicts += merged.conflicts
    report.purged += merged.purged
    if merged.edited:
        report.notes.append(
            f"{merged.edited} times the same was edited on two devices at once; the later words hold, `limpet show ID "
            "--history` has the others"
        )


def _report_missing(files: Sequence[SegmentFile], rows: Sequence[SegmentRow], report: SegmentReport) -> None:
    """Segments that must exist, as later ones do or another device has seen them, and are neither here nor known."""
    there: dict[str, set[int]] = defaultdict(set)
    last: Counter[str] = Counter()
    for id, number in [(one.device, one.number) for one in files] + [(one.device, one.number) for one in rows]:
        there[id.hex()].add(number)
    for device, numbers in there.items():
        last[device] = max(numbers)
    for row in rows:
        last |= Counter(row.header.get("seen", {}))
    for device, number in sorted(last.items()):
        # A header may name any number: what is counted are the files that are there.
        missing = number - len(there[device] - {0})
        if missing:
            shown = ", ".join(map(str, islice((one for one in range(1, number) if one not in there[device]), 3)))
            more = f" and {missing - 3:,} more" if missing > 3 else ""
            report.problems.append((device, f"segment {shown}{more} of this device is missing"))


def _report_holding(store: Store, folder: Path, report: SegmentReport) -> None:
    """Others' files that still hold the content of what was purged: only their own device writes them again."""
    affected = store.devices.purged()
    for row in store.devices.segments()[1]:
        path = next((one for form in (False, True) if (one := _path(folder, row, row.digest, form)).exists()), None)
        if row.own or row.num not in affected or path is None:
            continue
        try:
            lines, _ = events_of(SegmentFile(path, row.device, row.number, row.digest))
        except LimpetError:
            continue
        if any(one.event.memory in affected[row.num] and not is_scrubbed(one.event) for one in lines):
            report.notes.append(
                f"{row.device.hex()}/{path.name} still holds what was purged, until its device imports and exports"
            )


# -- the devices that segments are exchanged with, and which of them are trusted

# Every device, also those that come; and the id that stands for them in a store.
ALL_DEVICES, EVERY_DEVICE = "all", b""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo(JsonForm):
    """A device whose segments are known here. `trusted`: it may also speak of what others said."""

    id: str
    own: bool
    trusted: bool
    segments: int


def devices(store: Store) -> list[DeviceInfo]:
    trusted = store.devices.trusted()
    _, rows = store.devices.segments()
    counts = Counter((one.device, one.own) for one in rows)
    for id in trusted - {id for id, _ in counts} - {EVERY_DEVICE}:
        counts[id, False] = 0
    return [
        DeviceInfo(id=id.hex(), own=own, trusted=own or id in trusted or EVERY_DEVICE in trusted, segments=count)
        for (id, own), count in sorted(counts.items())
    ]


def trust_device(context: Context, id: str, *, trusted: bool) -> int:
    """How many devices that are known are concerned."""
    known = [one for one in devices(context.store) if not one.own]
    if id == ALL_DEVICES:
        device, concerned = EVERY_DEVICE, len(known)
    else:
        if not isinstance(id, str) or not re.fullmatch(r"[0-9a-f]{4,32}", id.lower()):
            raise BadInput(f"not the id of a device: {id!r:.60}", hint="`limpet serve device` lists them")
        found = [one.id for one in known if one.id.startswith(id.lower())]
        if len(found) > 1:
            raise BadInput(f"{len(found)} devices begin with {id}", hint="give more of the id")
        if not found and len(id) < 32:
            raise NotFound(
                f"no device {id}", hint="`limpet serve device` lists them; a whole id may be trusted before it is known"
            )
        device, concerned = bytes.fromhex(found[0] if found else id), len(found)
    context.store.devices.trust(device, context.now() if trusted else None)
    return concerned
