"""The records that readers yield, and the report that readers and importer write together.

A reader is a function `read(path, report) -> Iterator[Record]`. It trusts nothing in the file, reports what it does not
understand, with its place, and goes on. It raises BadInput only when it cannot go on.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar

from ...model.clock import from_datetime
from ...model.dataclass import dataclass, field
from ...model.encode import OPTIONAL, JsonForm, rows
from ...model.errors import BadInput, message_of
from ...model.memory import KINDS, Memory
from ...model.times import parse_time

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

Progress = Callable[[int, int], None]
# The longest line that is read: the longest text, all escapes, with its fields; or a message with pictures.
MAX_LINE = 16_000_000

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
# Bad places that a report lists; more are counted.
MAX_LISTED = 10_000
# Where an imported memory says what it was: {"from", "id", "mark", "created"?, "updated"?}.
MARK = "import"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link from a record to another of the same source, by their ids there."""

    type: str
    target: str
    weight: float = 1.0
    at: int | None = None  # microseconds UTC: since when


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One statement of another program. Times in microseconds UTC."""

    id: str  # the same each time it is read, and of no other record of the source
    place: str  # where it stands, for the report: "row 7", "notes/a.md:12"
    content: str
    kind: str = "fact"
    topics: tuple[str, ...] = ()
    created: int | None = None
    updated: int | None = None
    valid_to: int | None = None
    key: str | None = None
    importance: float | None = None
    confidence: float | None = None
    session: str | None = None
    speaker: str | None = None
    source: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    links: Iterable[Link] = ()  # looked at once, after all records
    uses: int = 0
    used: int | None = None
    archived: bool = False
    prose: str | None = None  # what the reader is asked the kind of, once, when the record is new; None: of nothing


@dataclass(slots=True, kw_only=True)
class TransferReport(JsonForm):
    """The report of a transfer. Counts are of memories; for `jsonl` of lines, for `segments` of events."""

    SHOWN: ClassVar[tuple[str, ...]] = (
        "new", "changed", "known", "quarantined", "redacted", "links", "rejected", "more_rejected", "notes",
        "device", "segments", "conflicts", "purged",
    )  # fmt: skip

    new: int = 0
    changed: int = 0
    known: int = 0
    quarantined: int = 0  # new, and kept out of recall until a person has looked
    redacted: int = 0  # new, and without the secrets that were in them
    links: int = 0  # new ones
    rejected: list[tuple[str, str]] = field(default_factory=list, metadata=rows("place", "reason"))  # (place, reason)
    more_rejected: int = 0  # beyond MAX_LISTED
    notes: Counter[str] = field(default_factory=Counter)  # what was not kept as it was -> how often
    operation: str | None = None  # of an import that wrote: `undo` takes it
    # Of segments alone.
    device: str | None = field(default=None, metadata=OPTIONAL)  # the identity of this store
    segments: int = field(default=0, metadata=OPTIONAL)  # written, or taken in
    conflicts: int = field(default=0, metadata=OPTIONAL)  # new on the review list
    purged: int = field(default=0, metadata=OPTIONAL)  # purged on other devices, erased here by this import
    progress: Progress | None = None
    by_name: bool = False  # files that are left out are rejected by their names, not counted among the notes

    def left(self, name: str, why: str) -> None:
        """Report a file that is not read. `why`: in words that fit one file and several."""
        if self.by_name:
            self.bad(name, why)
        else:
            self.note(why)

    def bad(self, place: str, reason: str) -> None:
        """Report an item that was not understood or not taken."""
        if len(self.rejected) < MAX_LISTED:
            self.rejected.append((place[:300], reason[:500]))
        else:
            self.more_rejected += 1

    def note(self, what: str, count: int = 1) -> None:
        """Report that something is stored in another form or left out, without an error."""
        if count:
            self.notes[what] += count

    def at(self, done: int, total: int) -> None:
        if self.progress:
            self.progress(min(done, total), total)


def imported_id(format: str, id: str) -> bytes:
    """Return the fixed id here of a record of another program: UUIDv8 (RFC 9562) of a hash of both names."""
    raw = bytearray(hashlib.sha256(f"{format}\0{id}".encode("utf-8", "surrogatepass")).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x80
    raw[8] = raw[8] & 0x3F | 0x80
    return bytes(raw)


_YEAR_2200 = 7_258_118_400_000_000  # below it nothing needs a closer look
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str).encode


def digest(*parts: Any) -> str:
    """Return a short hash of some JSON values."""
    text = parts[0] if len(parts) == 1 and isinstance(parts[0], str) else _encode(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


# -- what readers share: records from fields that may hold anything

_TIMES = ("created", "updated", "valid_to", "used")
_NAMES = ("key", "session", "speaker")
_SHARES = ("importance", "confidence")
# The longest name of a topic, session or speaker.
MAX_NAME = 200
MAX_TOPICS = 50


def picked(given: dict[str, Any], fields: dict[str, str]) -> dict[str, Any]:
    """Return the values of another program's object under our names.

    `fields`: our name -> theirs, the best first ("metadata.type": within an object). `topics` and `kind` get all
    values, others the first.
    """
    values: dict[str, Any] = {}
    for name, theirs in fields.items():
        there = []
        for path in theirs.split():
            value: Any = given
            for part in path.split("."):
                value = mapping(value).get(part)
            there += [] if value is None else [value]
        values[name] = there if name in ("topics", "kind") else there[0] if there else None
    return values


def mapping(value: Any) -> dict[str, Any]:
    """Return a value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def cleaned(
    place: str, report: TransferReport, *, kinds: dict[str, str] | None = None, default: str = "fact", **given: Any
) -> Record:
    """Return a record from values that may be of any type, under the names of `Record`.

    `kinds`: our kinds for types of theirs; `default`: for other types. An unreadable value is reported and left out.
    Raises BadInput for a record without an id or a text.
    """
    id, content = given["id"], given["content"]
    if not isinstance(id, str | int) or id == "":
        raise BadInput("it has no id")
    if not isinstance(content, str):
        raise BadInput("it has no text")
    given["id"] = str(id)
    words = given.get("kind")
    known = (kind_of(word, kinds or {}) for word in (words if isinstance(words, list) else [words]))
    given["kind"] = next(filter(None, known), default)
    given["topics"] = topics(*given.get("topics") or ())
    for name in _TIMES:
        try:
            given[name] = moment(given.get(name))
        except (BadInput, OverflowError) as error:
            report.bad(place, f"{name}: {message_of(error)}; taken without it")
            given[name] = None
    for name in _NAMES:
        value = given.get(name)
        given[name] = value[:MAX_NAME] if isinstance(value, str) and value.strip() else None
    for name in _SHARES:
        value = given.get(name)
        fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
        if value is not None and not fits:
            report.bad(place, f"{name} {value!r:.60} is no number from 0 to 1; taken without it")
        given[name] = float(value) if value is not None and fits else None
    uses = given.get("uses")
    given["uses"] = uses if isinstance(uses, int) and not isinstance(uses, bool) and uses > 0 else 0
    metadata = given.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        report.bad(place, "metadata is no object; taken without it")
    given["metadata"] = dict(mapping(metadata))
    return Record(place=place, **given)


def records_from(
    items: Iterable[tuple[str, Any]], report: TransferReport, make: Callable[[dict[str, Any], str], Record | None]
) -> Iterator[Record]:
    """Yield the record that `make` returns for each (place, object); an object it refuses goes into the report."""
    for place, item in items:
        try:
            if not isinstance(item, dict):
                raise BadInput("not an object")
            record = make(item, place)
        except BadInput as error:
            report.bad(place, error.message)
        else:
            if record is not None:
                yield record


def is_own_file(path: Path, name: str, report: TransferReport) -> bool:
    """Return whether a path is a regular file; report others as left out: a link may lead out of the folder, a pipe may
    never end."""
    if path.is_symlink():
        report.left(name, "links of the file system were not followed")
        return False
    if not path.is_file():
        report.left(name, "pipes, sockets and other things that are no regular files were skipped")
        return False
    return True


def content_of(path: Path, name: str, most: int, report: TransferReport) -> bytes | None:
    """Return the bytes of a file; None for one that is too large or unreadable, which the report says."""
    try:
        if path.stat().st_size <= most:
            return path.read_bytes()
        report.left(name, f"files larger than {most:,} bytes were skipped")
    except OSError as error:
        report.bad(name, f"cannot be read: {error.strerror}")
    return None


# Folders that are never looked into.
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


def files_below(
    root: Path, why_not: Callable[[str], str | None], report: TransferReport, *, hidden: frozenset[str] = frozenset(),
    ignore: bool = False,
) -> Iterator[str]:  # fmt: skip
    """Yield the wanted files in a folder by their names relative to it, with /. Links are not followed.

    `why_not`: "" for a wanted name; else why it is left out, None: nobody asks. `hidden`: folders beginning with a dot
    to look into; `ignore`: obey .gitignore.
    """
    rules: dict[str, GitIgnoreSpec] = {}  # by the folder that they are in

    def ignored(name: str) -> bool:
        """Return whether a file is ignored. The .gitignore nearest to it has the last word."""
        words = (spec.check_file(name[len(base) :]).include for base, spec in rules.items() if name.startswith(base))
        return [False, *(bool(word) for word in words if word is not None)][-1]

    def unreadable(error: OSError) -> None:
        report.bad(Path(error.filename).relative_to(root).as_posix(), f"cannot be read: {error.strerror}")

    for place, folders, files in os.walk(root, onerror=unreadable, followlinks=False):
        here = Path(place).relative_to(root).as_posix()
        base = "" if here == "." else f"{here}/"
        if ignore and ".gitignore" in files and (Path(place) / ".gitignore").is_file():
            from pathspec import GitIgnoreSpec

            try:
                text = (Path(place) / ".gitignore").read_text(encoding="utf-8", errors="replace")
                rules[base] = GitIgnoreSpec.from_lines(text.splitlines())
            except (OSError, ValueError) as error:
                report.bad(f"{base}.gitignore", f"cannot be read: {error}")
        links = [name for name in folders if (root / base / name).is_symlink()]
        skipped = [name for name in folders if (name[0] == "." and name not in hidden) or name in SKIPPED_FOLDERS]
        report.note("hidden folders, and folders of packages, were not looked into", len(skipped))
        folders[:] = sorted(name for name in {*folders} - {*links, *skipped} if not ignored(f"{base}{name}/"))
        for name in sorted(base + file for file in (*files, *links)):
            why = why_not(name)
            if why is not None and not ignored(name) and is_own_file(root / name, name, report):
                if why:
                    report.left(name, why)
                else:
                    yield name


def kind_of(name: Any, others: dict[str, str]) -> str | None:
    """Return our kind for a type of theirs, if there is one."""
    plain = name.strip().lower() if isinstance(name, str) else ""
    return plain if plain in KINDS else others.get(plain)


def moment(value: Any) -> int | None:
    """Parse ISO 8601 or epoch seconds to microseconds; None for none, and for 0. Raises BadInput, also for words."""
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        # Only forms that fromisoformat reads: parse_time would guess.
        try:
            if not text[0].isdigit() or len(text) > 40:
                raise ValueError
            at = from_datetime(datetime.fromisoformat(text))
        except (ValueError, OverflowError):
            raise BadInput(f"not a time: {text[:60]!r}") from None
    elif value is None or value == 0:
        return None
    elif isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _YEAR_2200:
        raise BadInput(f"not a time: {str(value)[:60]!r}")
    else:
        at = round(value * 1_000_000)
    return at if 0 <= at < _YEAR_2200 else parse_time(at, now=0)


def text_list(value: Any) -> list[str]:
    """Return the texts in a value that is a text or a list of them; others are left out."""
    texts = value if isinstance(value, list) else [value]
    return [text.strip() for text in texts if isinstance(text, str) and text.strip()]


def topics(*values: Any) -> tuple[str, ...]:
    """Return topics from values that are texts or lists of them: each once, none too long, fifty at most."""
    names = dict.fromkeys(name for value in values for name in text_list(value))
    return tuple(name for name in names if len(name) <= MAX_NAME)[:MAX_TOPICS]


# -- lines of JSON


def parsed(line: str | bytes) -> dict[str, Any]:
    """Parse a line as a JSON object. Raises BadInput."""
    if len(line) > MAX_LINE:
        raise BadInput(f"longer than {MAX_LINE:,} bytes")
    try:
        text = line if isinstance(line, str) else line.decode("utf-8")
        value = json.loads(text.lstrip("\ufeff"))
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8: {error.reason} at {error.start}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadInput("not a JSON object")
    return value


def json_lines(path: Path, report: TransferReport) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("line NUMBER", object) of every line that is one; the others go into the report. Raises BadInput."""
    with path.open("rb") as file:
        if b"\0" in file.read(4_096):
            raise BadInput(f"{path} is not text")
        file.seek(0)
        size = path.stat().st_size
        for place, _, line in parsed_lines(file, size, report):
            yield place, line
    report.at(size, size)


def parsed_lines(file: IO[Any], size: int, report: TransferReport) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield ("line NUMBER", length, object), as `json_lines` does. `size`: of the file, 0 for a stream. A line that is
    too long is never held whole."""
    done = number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        done += len(line)
        if number % 500 == 0:
            report.at(done, size or done)
        try:
            if line.strip():
                yield f"line {number}", len(line), parsed(line)
        except BadInput as error:
            report.bad(f"line {number}", error.message)
        while len(line) > MAX_LINE and not line.endswith(b"\n" if isinstance(line, bytes) else "\n"):
            line = file.readline(MAX_LINE + 1)


# -- what writers share: what a memory says beside its text


def mark_of(memory: Memory, name: str = MARK) -> dict[str, Any]:
    """Return the mark that an import left in the metadata."""
    return mapping(memory.metadata.get(name))


def own_metadata(memory: Memory) -> dict[str, Any]:
    return {name: value for name, value in memory.metadata.items() if name != MARK}


def facts_of(memory: Memory) -> dict[str, Any]:
    """Return the fields of a memory beyond text, kind, topics and times, for Markdown."""
    facts = {
        "key": memory.key, "session": memory.session, "speaker": memory.speaker, "confidence": memory.stated_confidence,
        "importance": memory.importance if memory.importance != 0.5 else None, "metadata": own_metadata(memory) or None,
    }  # fmt: skip
    return {name: value for name, value in facts.items() if value is not None}
