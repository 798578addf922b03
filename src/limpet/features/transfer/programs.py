"""Readers of other programs' files: Memori, PMB, mem0 and the MCP reference memory server.

A reader is a table of fields, where what stands there, and a loop over rows or lines. What is written for two of them
(Memori, MCP) is in `writers.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.errors import BadInput
from ...store.foreign import ForeignFile, is_sqlite
from .records import MAX_TOPICS, Link, Record, TransferReport, cleaned, digest, moment, picked, records_from
from .source import database, json_items, json_lines, json_object, member, table_rows


def _lines(path: Path, report: TransferReport) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((f"line {number}", line) for number, line in json_lines(path, report))


# -- Memori: its SQLite databases, schema v0 to v3, and its JSONL

MEMORI = {
    "id": "id", "content": "content", "kind": "metadata.type", "metadata": "metadata",
    "topics": "metadata.topic metadata.topics metadata.tags", "confidence": "metadata.confidence",
    "session": "metadata.session", "speaker": "metadata.speaker", "created": "created_at", "updated": "updated_at",
    "used": "last_accessed", "uses": "access_count",
}  # fmt: skip
# Their types that are no kinds of ours; the type stays in the metadata too.
MEMORI_KINDS = {
    "debugging": "lesson", "architecture": "decision", "pattern": "skill", "roadmap": "goal", "temporary": "note",
}  # fmt: skip
_MEMORI_COLUMNS = "id content metadata created_at updated_at last_accessed access_count"


def read_memori(path: Path, report: TransferReport) -> Iterator[Record]:
    """Records of a database, by its first bytes, or of JSONL. Raises BadInput."""

    def record(row: dict[str, Any], place: str) -> Record:
        if isinstance(row.get("metadata"), str):
            row["metadata"] = json_object(row["metadata"], "metadata", place, report)
        return cleaned(place, report, kinds=MEMORI_KINDS, **picked(row, MEMORI))

    if not is_sqlite(path):
        yield from records_from(_lines(path, report), report, record)
        return
    needs = "memories", "id content created_at updated_at"
    with database(path, report, what="Memori database", needs=needs) as file:
        yield from records_from(table_rows(file, "memories", _MEMORI_COLUMNS, report), report, record)


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
# Their edges lead from the older event to the newer one; ours from what rests to what it rests on.
_PMB_BACKWARDS = frozenset({"causes", "influenced", "enabled"})
_PMB_LINKS = {"contradicts": "contradicts", "temporal-next": "temporal_next"}
# Tables that hold what PMB makes by itself, or what happened around it: not memories.
_PMB_LEFT_OUT = ("agent_actions", "lesson_surfaces", "predictive_cache", "graph_edges", "workspace_kv")


def read_pmb(path: Path, report: TransferReport) -> Iterator[Record]:
    """`path`: events.sqlite, or the folder of a workspace that holds it. Raises BadInput."""
    needs = "events", "ulid event_type content timestamp"
    with database(path, report, what="PMB workspace", needs=needs, inner="events.sqlite") as file:
        links = _pmb_links(file, report)
        entities: dict[Any, list[str]] = {}
        for joins in ("graph_event_entities", "event_entities"):
            for id, name in _pmb_joined(file, "graph_entities id name", f"{joins} event_ulid entity_id", report):
                if len(entities.setdefault(id, [])) < MAX_TOPICS:
                    entities[id].append(" ".join(str(name).split()))
        arcs = dict(_pmb_joined(file, "arcs id title", "arc_events event_ulid arc_id", report))
        for name in _PMB_LEFT_OUT:
            if name in file.tables and (count := file.count(name)):
                report.note(f"rows of {name} are not memories and were left out", count)

        def record(row: dict[str, Any], place: str) -> Record:
            id, type = row["ulid"], row["event_type"]
            metadata = json_object(row["metadata_json"], "metadata_json", place, report)
            values = picked({**row, "metadata": metadata, "entities": entities.get(id)}, PMB)
            query = metadata.get("query")
            if type == "qa" and isinstance(query, str) and query.strip():
                values["content"] = f"Q: {query}\nA: {row['content']}"
            kept = {"event_type": type, "ulid": id, "arc": arcs.get(id)}
            kept |= {name: row[name] for name in ("workspace_id", "tier")}
            values["metadata"] = metadata | {name: value for name, value in kept.items() if value}
            archived = row["archived_at"] is not None
            return cleaned(
                place, report, kinds=PMB_KINDS, links=tuple(links.get(id, ())), archived=archived, **values
            )  # fmt: skip

        yield from records_from(table_rows(file, "events", _PMB_COLUMNS, report), report, record)


def _pmb_joined(file: ForeignFile, names: str, joins: str, report: TransferReport) -> Iterator[tuple[Any, Any]]:
    """(ulid, name) of what is named in one table and joined with events in another, each "table column column"."""
    table, id, name = names.split()
    join, event, other = joins.split()
    if file.has(table, id, name) and file.has(join, event, other):
        named = {row[id]: row[name] for _, row in table_rows(file, table, f"{id} {name}", report, named=table)}
        for _, row in table_rows(file, join, f"{event} {other}", report, named=join):
            if named.get(row[other]):
                yield row[event], named[row[other]]


def _pmb_links(file: ForeignFile, report: TransferReport) -> dict[Any, list[Link]]:
    links: dict[Any, list[Link]] = {}
    columns = "source_ulid target_ulid edge_type confidence created_at"
    if not file.has("event_edges", *columns.split()[:3]):
        return links
    for place, row in table_rows(file, "event_edges", columns, report, named="event_edges row"):
        source, target, type, sure, since = row.values()
        if type in _PMB_BACKWARDS:
            source, target = target, source
        ours = "caused_by" if type in _PMB_BACKWARDS else _PMB_LINKS.get(type, "related_to")
        if ours == "related_to":
            report.note(f"edges of the type {str(type)[:40]!r} are related_to here")
        try:
            at = moment(since)
        except (BadInput, OverflowError):
            report.bad(place, f"created_at is no time: {since!r:.60}; taken without it")
            at = None
        weight = float(sure) if isinstance(sure, int | float) and 0 <= sure <= 1 else 1.0
        links.setdefault(source, []).append(Link(type=ours, target=str(target), weight=weight, at=at))
    return links


# -- mem0: a JSON export

MEM0 = {
    "id": "id", "content": "memory text data", "kind": "metadata.type",
    "topics": "categories metadata.category metadata.topic", "created": "created_at", "updated": "updated_at",
    "valid_to": "expiration_date", "session": "run_id", "speaker": "role", "metadata": "metadata",
}  # fmt: skip
MEM0_KINDS = {"preferences": "preference", "goals": "goal", "decisions": "decision"}
# Whose memory it is, and whose words; they are labels there, and stay in the metadata here.
_MEM0_OWNERS = ("user_id", "agent_id", "app_id", "run_id", "actor_id", "attributed_to")
_MEM0_KNOWN = {"hash", "score", "immutable", "event", "metadata", "categories", *_MEM0_OWNERS} | {
    name for names in MEM0.values() for name in names.split()
}


def read_mem0(path: Path, report: TransferReport) -> Iterator[Record]:
    """The items of a list, below `results` or `memories` or alone. Raises BadInput."""

    def items() -> Iterator[tuple[str, Any]]:
        with member(path, path.name) as (file, name):
            number = 0
            for item in json_items(file, name):
                within = item.get("results", item.get("memories")) if isinstance(item, dict) else None
                for memory in within if isinstance(within, list) else [item]:
                    number += 1
                    yield f"item {number}", memory
                    report.at(number, number)

    def record(item: dict[str, Any], place: str) -> Record:
        for name in sorted(set(item) - _MEM0_KNOWN):
            report.note(f"the field {name[:40]!r} is not known and was left out")
        values = picked(item, MEM0)
        owners = {name: item[name] for name in _MEM0_OWNERS if isinstance(item.get(name), str)}
        if values["metadata"] is None or isinstance(values["metadata"], dict):
            values["metadata"] = owners | (values["metadata"] or {})
        if values["id"] in (None, ""):
            values["id"] = digest(values["content"], values["metadata"])
        return cleaned(place, report, kinds=MEM0_KINDS, **values)

    yield from records_from(items(), report, record)


# -- the MCP reference memory server: JSONL of entities with observations, and of relations between entities

# Their relations are words in the active voice; these say what a link of ours says. All others are related_to.
_MCP_LINKS = {
    "caused_by": "caused_by", "because_of": "caused_by", "depends_on": "caused_by", "supports": "supports",
    "contradicts": "contradicts", "supersedes": "supersedes", "replaces": "supersedes", "part_of": "part_of",
    "belongs_to": "part_of",
}  # fmt: skip


def read_mcp(path: Path, report: TransferReport) -> Iterator[Record]:
    """An observation is a memory: "NAME: OBSERVATION". An entity without any is one by its type. Relations between two
    entities become statements, and links between their first memories. Lines come in any order, so all are read first.
    """
    entities: dict[str, tuple[str, dict[str, str]]] = {}  # name -> its type, and its observations with their places
    relations: dict[tuple[str, str, str], str] = {}
    for place, line in _lines(path, report):
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
            ours = _MCP_LINKS.get(type.strip().lower().replace(" ", "_"), "related_to")
            first = next(iter(entities[target][1]), "")
            links.setdefault(source, []).append(Link(type=ours, target=_mcp_id(target, first)))
    for name, (type, observations) in entities.items():
        for number, (text, place) in enumerate(observations.items()):
            about = {"entity": name, "entity_type": type} | ({"observation": text} if text else {})
            yield cleaned(
                place, report, id=_mcp_id(name, text), content=f"{name}: {text}" if text else f"{name} is a {type}",
                kind=type, topics=[" ".join(name.split())], metadata=about,
                links=tuple(links.get(name, ())) if number == 0 else (),
            )  # fmt: skip
    for (source, type, target), place in relations.items():
        yield cleaned(
            place, report, id=_mcp_id(source, f"-{type}->{target}"),
            content=f"{source} {type.replace('_', ' ')} {target}",
            topics=[" ".join(source.split()), " ".join(target.split())],
            metadata={"relation": {"from": source, "type": type, "to": target}},
        )  # fmt: skip


def _mcp_entity(
    line: dict[str, Any], place: str, entities: dict[str, tuple[str, dict[str, str]]], report: TransferReport
) -> None:
    name, type, given = line.get("name"), line.get("entityType"), line.get("observations") or []
    if not isinstance(name, str) or not name.strip():
        report.bad(place, "an entity needs a name")
        return
    for other in sorted(set(line) - {"type", "name", "entityType", "observations"}):
        report.note(f"the field {other[:40]!r} of an entity is not known and was left out")
    if not isinstance(given, list):
        report.bad(place, "observations must be a list")
        given = []
    observations = entities.setdefault(name, (type if isinstance(type, str) and type else "thing", {}))[1]
    for text in given:
        if isinstance(text, str) and text.strip():
            observations.setdefault(text, place)
        else:
            report.bad(place, f"an observation must be text, not {'empty' if text == '' else text.__class__.__name__}")
    if not observations:
        observations[""] = place


def _mcp_id(name: str, text: str) -> str:
    return f"{name[:100]}#{digest(name, text)}"
