"""YAML front matter of Markdown files, as people and models write it.

PyYAML's parser reads it. The values are put together here: its loaders turn dates into objects and `no` into False,
expand aliases without bound and recurse in C as deep as a text says. A line that is no YAML costs that line, not the
front matter, and `description: Deploys: how` is read as a text.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import yaml

# Front matter longer than this is none.
MAX_LINES = 500
MAX_CHARS = 100_000
MAX_DEPTH = 20
# Lines mended or left out before the rest is given up: each costs another parse.
MAX_MENDED = 50
_PAIR = re.compile(r"(\s*[A-Za-z_][\w .-]{0,99}?\s*:)\s+(\S.*)$")
# What YAML does not allow in a text.
_UNPRINTABLE = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


class Front(NamedTuple):
    values: dict[str, Any]
    lines: int  # that it takes, both fences included; 0 = there is none
    bad: list[tuple[int, str]]  # (line from 1, what it says) that was not understood


def parse(lines: list[str]) -> Front:
    """Front matter at the top of a text's lines. Pure."""
    if not lines or lines[0].rstrip() != "---":
        return Front({}, 0, [])
    end = next((i for i, line in enumerate(lines[1:MAX_LINES], 1) if line.rstrip() in ("---", "...")), None)
    if end is None or sum(map(len, lines[:end])) > MAX_CHARS:
        return Front({}, 0, [])
    import yaml

    left = [_UNPRINTABLE.sub("\ufffd", line).rstrip() for line in lines[1:end]]
    bad: list[tuple[int, str]] = []
    mended: set[int] = set()
    for _ in range(MAX_MENDED):
        try:
            return Front(_values("\n".join(left)), end + 1, sorted(bad))
        except yaml.MarkedYAMLError as error:
            at = _line(error, left)
        pair = _PAIR.match(left[at])
        if pair and at not in mended:
            left[at] = f"{pair[1]} {json.dumps(pair[2].strip(), ensure_ascii=False)}"
        else:
            bad.append((at + 2, lines[at + 1].strip()))
            left[at] = ""
        mended.add(at)
    return Front({}, end + 1, [*sorted(bad), (1, "no YAML")])


def _line(error: yaml.MarkedYAMLError, lines: list[str]) -> int:
    """The line to mend, from 0: where a quote or a bracket opens that does not close, else where the parser stopped."""
    opened = error.context_mark if re.search("quoted|flow", error.context or "") else None
    mark = opened or error.problem_mark
    at = min(mark.line if mark else 0, len(lines) - 1)
    while at and not lines[at].strip():
        at -= 1
    return at


def _values(text: str) -> dict[str, Any]:
    """What a text of YAML says. Raises YAMLError, also for what is no map of names, for aliases and for depth."""
    import yaml

    events = yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    for event in events:
        if isinstance(event, yaml.MappingStartEvent):
            return _map(events, 1)
        if isinstance(event, yaml.NodeEvent):
            raise yaml.MarkedYAMLError(problem="no names", problem_mark=event.start_mark)
    return {}


def _map(events: Iterator[Any], depth: int) -> dict[str, Any]:
    import yaml

    made = {}
    for event in _until(yaml.MappingEndEvent, events):
        if not isinstance(event, yaml.ScalarEvent):
            raise yaml.MarkedYAMLError(problem="not a name", problem_mark=event.start_mark)
        made[event.value] = _value(next(events), events, depth)
    return made


def _until(end: type, events: Iterator[Any]) -> Iterator[Any]:
    return itertools.takewhile(lambda event: not isinstance(event, end), events)


def _value(event: Any, events: Iterator[Any], depth: int) -> Any:
    import yaml

    if isinstance(event, yaml.ScalarEvent):
        return event.value.rstrip("\n") if event.style else scalar(event.value)
    if isinstance(event, yaml.AliasEvent) or depth >= MAX_DEPTH:
        raise yaml.MarkedYAMLError(problem="an alias, or too deep", problem_mark=event.start_mark)
    if isinstance(event, yaml.MappingStartEvent):
        return _map(events, depth + 1)
    return [_value(one, events, depth + 1) for one in _until(yaml.SequenceEndEvent, events)]


def scalar(text: str) -> Any:
    """What a word without quotes says: true and false, null, a number, or the text itself. A date stays text."""
    if text in ("true", "false"):
        return text == "true"
    if text in ("null", "~", ""):
        return None
    if re.fullmatch(r"-?(?:0|[1-9]\d{0,17})", text):
        return int(text)
    if re.fullmatch(r"-?\d{1,17}\.\d{1,17}", text):
        return float(text)
    return text
