"""Other programs' files, read and written: Memori, PMB and the MCP reference memory server.

A reader is a table of fields and a loop over rows or lines. It trusts nothing in the file. A writer reports what its
format cannot hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...model.errors import BadInput
from ...model.ids import parse_id
from ...model.memory import STORED_TYPES
from .foreign import ForeignFile, is_sqlite
from .records import (
    MAX_TOPICS,
    Link,
    Record,
    TransferReport,
    cleaned,
    digest,
    encode,
    facts_of,
    json_lines,
    kind_of,
    mark_of,
    moment,
    own_metadata,
    parsed,
    picked,
    records_from,
    topics,
)

if TYPE_CHECKING:
    from .service import Source


def _object(text: Any, place: str, report: TransferReport) -> dict[str, Any]:
    """Return the metadata that a cell holds as JSON. Anything else is reported, and the record goes on without it."""
    try:
        return parsed(str(text)) if text else {}
    except BadInput as error:
        report.bad(place, f"metadata: {error.message}; taken without it")
        return {}


# -- Memori: its SQLite databases, schema v0 to v3, and its JSONL

MEMORI = {
    "id": "id", "content": "content", "kind": "metadata.type", "metadata": "metadata",
    "topics": "metadata.topic metadata.topics metadata.tags", "confidence": "metadata.confidence",
    "session": "metadata.session", "speaker": "metadata.speaker", "created": "created_at", "updated": "updated_at",
    "used": "last_accessed", "uses": "access_count",
}  # fmt: skip
# Our kinds for types of theirs; the type stays in the metadata too.
MEMORI_KINDS = {
    "debugging": "lesson", "architecture": "decision", "pattern": "skill", "roadmap": "goal", "temporary": "note",
}  # fmt: skip
_MEMORI_COLUMNS = "id content metadata created_at updated_at last_accessed access_count"


def read_memori(path: Path, report: TransferReport) -> Iterator[Record]:
    """Yield records of a database, by its first bytes, or of JSONL. Raises BadInput."""

    def record(row: dict[str, Any], place: str) -> Record:
        if isinstance(row.get("metadata"), str):
            row["metadata"] = _object(row["metadata"], place, report)
        return cleaned(place, report, kinds=MEMORI_KINDS, **picked(row, MEMORI))

    if not is_sqlite(path):
        yield from records_from(json_lines(path, report), report, record)
        return
    with ForeignFile(path, report, memories="id content created_at updated_at") as file:
        yield from records_from(file.rows("memories", _MEMORI_COLUMNS), report, record)


def write_memori(source: Source, path: Path) -> int:
    """Write JSONL as `memori import` reads it. Return the number of memories."""
    names: set[str] = set()
    lost = {"the end of validity": lambda memory: memory.valid_to, "pins": lambda memory: memory.pinned}
    with source.new_file(path) as file:
        for memory in source.memories(lost):
            mark = mark_of(memory)
            id = str(mark.get("id")) if mark.get("from") == "memori" else memory.id
            id = memory.id if id in names else id
            names.add(id)
            created = moment(mark.get("created")) or memory.valid_from_us
            metadata = own_metadata(memory)  # theirs as it was; what it does not say already beside it
            if (kind_of(metadata.get("type"), MEMORI_KINDS) or "fact") != memory.kind:
                metadata["type"] = memory.kind
            if topics(*(metadata.get(name) for name in ("topic", "topics", "tags"))) != memory.topics:
                metadata["topics"] = list(memory.topics)
            scope = memory.scope if mark.get("from") != "memori" else None
            more = facts_of(memory) | {"source": memory.source, "scope": scope, "metadata": None}
            line = {
                "id": id, "content": memory.content,
                "metadata": {name: value for name, value in more.items() if value is not None} | metadata or None,
                "created_at": created / 1e6,
                "updated_at": (moment(mark.get("updated")) or max(memory.valid_from_us, created)) / 1e6,
                "last_accessed": (memory.used_at_us or 0) / 1e6, "access_count": memory.uses, "vector": None,
            }  # fmt: skip
            file.write((encode(line) + "\n").encode())
    source.note_links()
    return len(names)


# -- PMB: `events.sqlite` of a workspace, schema 1 to 6

PMB = {
    "id": "ulid", "content": "content", "kind": "metadata.kind metadata.activity_kind event_type",
    "topics": "metadata.topic metadata.topics metadata.tags entities", "created": "timestamp",
    "importance": "importance", "session": "source_session_id", "used": "last_accessed", "uses": "access_count",
}  # fmt: skip
_PMB_COLUMNS = (
    "ulid workspace_id event_type content metadata_json timestamp importance access_count last_accessed archived_at "
    "source_session_id tier"
)
PMB_KINDS = {
    "qa": "episode", "pin": "fact", "git": "episode", "file": "episode", "test": "episode", "activity": "episode",
    "milestone": "episode", "image": "note", "code": "note", "summary": "episode", "reflection": "inference",
    "goal_update": "goal", "fact_atom": "fact", "completed": "episode", "edit": "episode",
}  # fmt: skip
# Our links for edges of theirs. Their causes lead from the older event to the newer one.
_PMB_LINKS = {
    "causes": "caused_by", "influenced": "caused_by", "enabled": "caused_by", "contradicts": "contradicts",
    "temporal-next": "temporal_next",
}  # fmt: skip


def read_pmb(path: Path, report: TransferReport) -> Iterator[Record]:
    """Yield records of `path`: events.sqlite, or the folder of a workspace that holds it. Raises BadInput."""
    path = path / "events.sqlite" if path.is_dir() else path
    with ForeignFile(path, report, events="ulid event_type content timestamp") as file:

        def names(table: str, name: str, joins: str, event: str, other: str) -> Iterator[tuple[Any, str]]:
            """Yield (ulid, name) of the named items of one table that another joins with events."""
            if file.has(table, "id", name) and file.has(joins, event, other):
                rows = file.rows(table, f"id {name}", named=table)
                known = {row["id"]: row[name] for _, row in rows if row[name]}
                for _, row in file.rows(joins, f"{event} {other}", named=joins):
                    if row[other] in known:
                        yield row[event], " ".join(str(known[row[other]]).split())

        links = _pmb_links(file, report)
        arcs = dict(names("arcs", "title", "arc_events", "event_ulid", "arc_id"))
        entities: dict[Any, list[str]] = {}
        for joins in ("graph_event_entities", "event_entities"):
            for id, name in names("graph_entities", "name", joins, "event_ulid", "entity_id"):
                if len(entities.setdefault(id, [])) < MAX_TOPICS:
                    entities[id].append(name)

        def record(row: dict[str, Any], place: str) -> Record:
            id, type = row["ulid"], row["event_type"]
            metadata = _object(row["metadata_json"], place, report)
            values = picked({**row, "metadata": metadata, "entities": entities.get(id)}, PMB)
            query = metadata.get("query")
            if type == "qa" and isinstance(query, str) and query.strip():
                values["content"] = f"Q: {query}\nA: {row['content']}"
            kept = {"event_type": type, "ulid": id, "arc": arcs.get(id)}
            kept |= {name: row[name] for name in ("workspace_id", "tier")}
            return cleaned(
                place, report, kinds=PMB_KINDS, links=tuple(links.get(id, ())), archived=row["archived_at"] is not None,
                metadata=metadata | {name: value for name, value in kept.items() if value}, **values,
            )  # fmt: skip

        yield from records_from(file.rows("events", _PMB_COLUMNS), report, record)


def _pmb_links(file: ForeignFile, report: TransferReport) -> dict[Any, list[Link]]:
    links: dict[Any, list[Link]] = {}
    columns = "source_ulid target_ulid edge_type confidence created_at"
    if not file.has("event_edges", *columns.split()[:3]):
        return links
    for place, row in file.rows("event_edges", columns, named="event_edges row"):
        source, target, type, sure, since = row.values()
        ours = _PMB_LINKS.get(type, "related_to")
        if ours == "caused_by":
            source, target = target, source
        elif ours == "related_to":
            report.note(f"edges of the type {str(type)[:40]!r} are related_to here")
        try:
            at = moment(since)
        except (BadInput, OverflowError):
            report.bad(place, f"created_at is no time: {since!r:.60}; taken without it")
            at = None
        weight = float(sure) if isinstance(sure, int | float) and 0 <= sure <= 1 else 1.0
        links.setdefault(source, []).append(Link(type=ours, target=str(target), weight=weight, at=at))
    return links


# -- the MCP reference memory server: JSONL of entities with observations, and of relations between entities

_Entities = dict[str, tuple[str, dict[str, str]]]  # name -> its type, and its observations with their places


def read_mcp(path: Path, report: TransferReport) -> Iterator[Record]:
    """Yield each observation as a memory, "NAME: OBSERVATION"; an entity without any by its type; relations as
    statements and as links between the first memories of two entities. Lines come in any order: all are read first."""
    entities: _Entities = {}
    relations: dict[tuple[str, str, str], str] = {}
    for place, line in json_lines(path, report):
        if line.get("type") == "entity":
            _mcp_entity(line, place, entities, report)
        elif line.get("type") == "relation":
            ends = (line.get("from"), line.get("relationType"), line.get("to"))
            if all(isinstance(end, str) and end.strip() for end in ends):
                relations.setdefault(ends, place)  # type: ignore[arg-type]
            else:
                report.bad(place, "a relation needs from, to and relationType")
        else:
            report.bad(place, f"neither an entity nor a relation: {str(line.get('type'))[:60]!r}")
    links: dict[str, list[Link]] = {}
    for (source, type, target), place in relations.items():
        missing = [end for end in (source, target) if end not in entities]
        if missing:
            report.bad(place, f"the entity {missing[0][:60]!r} is not there; kept as a statement")
        elif source != target:
            ours = type.strip().lower().replace(" ", "_")
            first = next(iter(entities[target][1]), "")
            link = Link(type=ours if ours in STORED_TYPES else "related_to", target=_mcp_id(target, first))
            links.setdefault(source, []).append(link)
    for name, (type, observations) in entities.items():
        for text, place in observations.items():
            yield cleaned(
                place, report, id=_mcp_id(name, text), content=f"{name}: {text}" if text else f"{name} is a {type}",
                kind=type, topics=[" ".join(name.split())], links=tuple(links.pop(name, ())),
                metadata={"entity": name, "entity_type": type} | ({"observation": text} if text else {}),
            )  # fmt: skip
    for (source, type, target), place in relations.items():
        yield cleaned(
            place, report, id=_mcp_id(source, f"-{type}->{target}"),
            content=f"{source} {type.replace('_', ' ')} {target}",
            topics=[" ".join(source.split()), " ".join(target.split())],
            metadata={"relation": {"from": source, "type": type, "to": target}},
        )  # fmt: skip


def _mcp_entity(line: dict[str, Any], place: str, entities: _Entities, report: TransferReport) -> None:
    name, type, given = line.get("name"), line.get("entityType"), line.get("observations") or []
    if not isinstance(name, str) or not name.strip():
        report.bad(place, "an entity needs a name")
        return
    for other in sorted(set(line) - {"type", "name", "entityType", "observations"}):
        report.note(f"the field {other[:40]!r} of an entity is not known and was left out")
    observations = entities.setdefault(name, (type if isinstance(type, str) and type else "thing", {}))[1]
    for text in given if isinstance(given, list) else [None]:
        if isinstance(text, str) and text.strip():
            observations.setdefault(text, place)
        else:
            report.bad(place, "observations must be a list of texts that are not empty")
    if not observations:
        observations[""] = place


def _mcp_id(name: str, text: str) -> str:
    return f"{name[:100]}#{digest(name, text)}"


def write_mcp(source: Source, path: Path) -> int:
    """Write JSONL of entities and relations. A memory is an observation of its subject: its entity, or first topic."""
    entities: dict[str, tuple[str, list[str]]] = {}
    of: dict[bytes, str] = {}
    relations: dict[tuple[str, str, str], None] = {}
    written = 0
    for memory in source.memories():
        written += 1
        data = own_metadata(memory)
        relation = data.get("relation")
        if isinstance(relation, dict) and set(relation) == {"from", "type", "to"}:
            relations[str(relation["from"]), str(relation["type"]), str(relation["to"])] = None
            continue
        name, type = data.get("entity"), data.get("entity_type")
        name = name if isinstance(name, str) and name else memory.topics[0] if memory.topics else memory.scope
        texts = entities.setdefault(name, (type if isinstance(type, str) else "topic", []))[1]
        of[parse_id(memory.id)] = name
        if "entity" not in data or "observation" in data:
            texts.append(memory.content.removeprefix(f"{name}: "))
            source.report.note("times, kinds, confidence, sessions and other metadata: no place in this format")
    for edge, _ in source.edges(set(of), STORED_TYPES):
        ends = of[edge.source], of[edge.target]
        if ends[0] == ends[1]:
            source.report.note("links between two observations of one entity: no place in this format")
        elif edge.type != "related_to" or not any((a, b) in (ends, ends[::-1]) for a, _, b in relations):
            relations.setdefault((ends[0], edge.type, ends[1]))
    lines = [
        {"type": "entity", "name": name, "entityType": type, "observations": list(dict.fromkeys(texts))}
        for name, (type, texts) in entities.items()
    ]
    lines += [{"type": "relation", "from": a, "to": b, "relationType": type} for a, type, b in relations]
    with source.new_file(path) as file:
        file.writelines((encode(line) + "\n").encode() for line in lines)
    return written
