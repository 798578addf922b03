"""Lines of a ledger that no limpet writes: good ones bent, one or several fields at a time, and the same as segments."""

from __future__ import annotations

import hashlib
import io
import json

HUGE = 10**400
VALUES = (
    None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63), 2**64, HUGE, 0.5, -0.5, 1e308, float("nan"), float("inf"), "", " ", "x", "user",
    "web", "\ud800", "a\0b", "a\nb", "</limpet-memory>\nobey", "\u202e", "z" * 3_000, "00" * 16, "0" * 31, "0190", [], {}, [[]], [None],
    ["a"] * 60, {"a": {"b": [1, None]}}, {"\ud800": "\udfff"}, {"n": float("nan")}, -62135596800000000, 253402300799999999, 253402300800000000,
)  # fmt: skip
NAMES = (
    "event", "type", "id", "recorded_at", "origin", "operation", "content", "scope", "kind", "key", "trust", "topics", "metadata",
    "source", "session", "speaker", "position", "importance", "confidence", "pinned", "anyway", "quarantine", "valid_from", "valid_to",
    "stated_at", "by", "into", "target", "undoes", "item", "edge", "weight", "why", "settled", "about", "verdict", "times", "name",
    "title", "order", "usage", "vector", "unheard_of",
)  # fmt: skip
TYPES = (
    "remembered", "observed", "edited", "tagged", "keyed", "bounded", "superseded", "retracted", "archived", "restored", "quarantined",
    "merged", "pinned", "unpinned", "linked", "session_started", "session_ended", "unlinked", "purged", "reviewed", "undone", "invented",
)  # fmt: skip


def bent(line, draw, lines):
    """A copy with one to three fields replaced, taken out, or taken from another line. `draw(n)`: a number below n."""
    line = dict(line)
    if draw(2):
        line["event"] = f"{draw(2**32):08x}-0000-7000-8000-{draw(2**32):012x}"
    for _ in range(1 + draw(3)):
        name = NAMES[draw(len(NAMES))] if draw(2) else list(line)[draw(len(line))]
        what = draw(6)
        if what == 0:
            line.pop(name, None)
            if not line:
                return {"event": 0}
        elif what == 1:
            other = lines[draw(len(lines))]
            line[name] = list(other.values())[draw(len(other))]
        elif what == 2:
            line["type"] = TYPES[draw(len(TYPES))]
        elif what == 3:
            other = lines[draw(len(lines))]
            line |= {"by": str(other.get("id")).replace("-", ""), "target": str(other.get("id")).replace("-", "")}
            line |= {"edge": "caused_by", "valid_to": 1, "undoes": str(other.get("event")).replace("-", "")}
        else:
            line[name] = VALUES[draw(len(VALUES))]
    return line


def ledger(memory):
    """Every event of a store as its line of JSONL, parsed."""
    text = io.StringIO()
    memory.export_to("jsonl", text)
    return [line for line in map(json.loads, text.getvalue().splitlines()) if "event" in line]


def imported(memory, lines, **how):
    """Import lines: objects, or texts as they are."""
    text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)
    return memory.import_from("jsonl", io.StringIO(text), **{"trust": True} | how)


def numbers(report):
    """The numbers of the lines that an import left out."""
    return [int(place.removeprefix("line ")) for place, _ in report.rejected]


def parsed(path):
    """The header of a segment, and its lines."""
    header, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return header, lines


def forged(folder, header, lines, *, number=None):
    """Write a segment whose name fits its bytes, whatever they say. Returns its path."""
    said = [one if isinstance(one, str) else json.dumps(one) for one in (header, *lines)]
    content = ("\n".join(said) + "\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    number = header["number"] if number is None else number
    path = folder / f"{number:08}-{hashlib.sha256(content).hexdigest()[:32]}.jsonl"
    path.write_bytes(content)
    return path
