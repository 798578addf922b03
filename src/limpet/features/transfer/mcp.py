"""The MCP reference memory server: JSONL of entities with observations, and of relations between entities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .records import Link, Record, TransferReport, digest, kind_of
from .source import json_lines

# Their relations are words in the active voice; these say what a link of ours says. All others are related_to.
LINKS = {
    "caused_by": "caused_by", "because_of": "caused_by", "depends_on": "caused_by", "supports": "supports",
    "contradicts": "contradicts", "supersedes": "supersedes", "replaces": "supersedes", "part_of": "part_of",
    "belongs_to": "part_of", "related_to": "related_to",
}  # fmt: skip


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """An observation is a memory: "NAME: OBSERVATION". An entity without any is one by its type. Relations between two
    entities become statements, and links between their first memories. Lines come in any order, so all are read first.
    """
    entities: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    relations: dict[tuple[str, str, str], str] = {}
    for number, line in json_lines(path, report):
        place = f"line {number}"
        if line.get("type") == "entity":
            _entity(line, place, entities, report)
        elif line.get("type") == "relation":
            ends = (line.get("from"), line.get("relationType"), line.get("to"))
            if all(isinstance(one, str) and one.strip() for one in ends):
                relations.setdefault(ends, place)  # type: ignore[arg-type]
            else:
                report.bad(place, "a relation needs from, to and relationType")
        else:
            report.bad(place, f"neither an entity nor a relation: {str(line.get('type'))[:60]!r}")
    first = {name: _id(name, seen[0][0]) for name, (_, seen) in entities.items()}
    links: dict[str, list[Link]] = {}
    for (source, type, target), place in relations.items():
        missing = [end for end in (source, target) if end not in entities]
        if missing:
            report.bad(place, f"the entity {missing[0][:60]!r} is not there; kept as a statement")
        elif source != target:
            ours = LINKS.get(type.strip().lower().replace(" ", "_"), "related_to")
            links.setdefault(source, []).append(Link(type=ours, target=first[target]))
    for name, (entity_type, seen) in entities.items():
        for i, (text, place) in enumerate(seen):
            yield Record(
                id=_id(name, text),
                place=place,
                content=f"{name}: {text}" if text else f"{name} is a {entity_type}",
                kind=kind_of(entity_type, {}),
                topics=_topics(name),
                metadata={"entity": name, "entity_type": entity_type} | ({"observation": text} if text else {}),
                links=tuple(links.get(name, ())) if i == 0 else (),
            )
    for (source, type, target), place in relations.items():
        yield Record(
            id=_id(source, f"-{type}->{target}"),
            place=place,
            content=f"{source} {type.replace('_', ' ')} {target}",
            topics=(*_topics(source), *_topics(target)) if source != target else _topics(source),
            metadata={"relation": {"from": source, "type": type, "to": target}},
        )


def _entity(
    line: dict[str, Any], place: str, entities: dict[str, tuple[str, list[tuple[str, str]]]], report: TransferReport
) -> None:
    name, type, given = line.get("name"), line.get("entityType"), line.get("observations")
    if not isinstance(name, str) or not name.strip():
        report.bad(place, "an entity needs a name")
        return
    for other in sorted(set(line) - {"type", "name", "entityType", "observations"}):
        report.note(f"the field {other[:40]!r} of an entity is not known and was left out")
    if not isinstance(given, list):
        if given is not None:
            report.bad(place, "observations must be a list")
        given = []
    texts = []
    for one in given:
        if isinstance(one, str) and one.strip():
            texts.append(one)
        else:
            report.bad(place, f"an observation must be text, not {type_name(one)}")
    kept = entities.setdefault(name, (type if isinstance(type, str) and type else "thing", []))[1]
    there = {text for text, _ in kept}
    kept += [(text, place) for text in dict.fromkeys(texts) if text not in there]
    if not kept:
        kept.append(("", place))


def type_name(value: Any) -> str:
    return "empty text" if isinstance(value, str) else type(value).__name__


def _id(name: str, text: str) -> str:
    return f"{name[:100]}#{digest(name, text)}"


def _topics(name: str) -> tuple[str, ...]:
    plain = " ".join(name.split())
    return (plain,) if len(plain) <= 200 else ()
