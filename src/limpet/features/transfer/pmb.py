"""PMB workspaces: `events.sqlite`, schema 1 to 6. Its vectors lie elsewhere and are made anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...model.errors import BadInput
from ...store.foreign import Cell, ForeignFile
from .records import Link, Record, TransferReport, kind_of, seconds, time_or_note, topics, unit
from .source import cell_text, database, json_object, records_of

KINDS = {
    "qa": "episode", "pin": "fact", "git": "episode", "file": "episode", "test": "episode", "activity": "episode",
    "milestone": "episode", "image": "note", "code": "note", "summary": "episode", "reflection": "inference",
    "goal_update": "goal", "fact_atom": "fact", "completed": "episode", "edit": "episode",
}  # fmt: skip
# Their edges lead from the older event to the newer one; ours from what rests to what it rests on.
BACKWARDS = {"causes": "caused_by", "influenced": "caused_by", "enabled": "caused_by"}
FORWARDS = {"blocked": "related_to", "references": "related_to", "contradicts": "contradicts",
            "temporal-next": "temporal_next"}  # fmt: skip
COLUMNS = (
    "ulid", "workspace_id", "event_type", "content", "metadata_json", "timestamp", "importance", "access_count",
    "last_accessed", "archived_at", "source_session_id", "tier",
)  # fmt: skip
EDGE_COLUMNS = ("source_ulid", "target_ulid", "edge_type", "confidence", "created_at")
# Tables that hold what PMB makes by itself, or what happened around it: not memories.
LEFT_OUT = ("agent_actions", "lesson_surfaces", "predictive_cache", "graph_edges", "workspace_kv")


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """`path`: events.sqlite, or the folder of a workspace that holds it. Raises BadInput."""
    needs = {"events": ("ulid", "event_type", "content", "timestamp")}
    with database(path, report, what="PMB workspace", rows="events", needs=needs, inner="events.sqlite") as file:
        links = _links(file, report)
        entities = _entities(file, report)
        arcs = _arcs(file)
        for name in LEFT_OUT:
            if name in file.tables and (count := file.count(name)):
                report.note(f"rows of {name} are not memories and were left out", count)
        yield from records_of(
            file, "events", COLUMNS, report, lambda row, place: _record(row, place, links, entities, arcs, report)
        )


def _record(
    row: dict[str, Cell],
    place: str,
    links: dict[str, list[Link]],
    entities: dict[str, list[str]],
    arcs: dict[str, str],
    report: TransferReport,
) -> Record:
    id, content = cell_text(row["ulid"], "ulid"), cell_text(row["content"], "content")
    if not id:
        raise BadInput("it has no ulid")
    if content is None:
        raise BadInput("it has no content")
    metadata = json_object(cell_text(row["metadata_json"], "metadata_json"), "metadata_json", place, report)
    type = cell_text(row["event_type"], "event_type") or ""
    kept = {**metadata, "event_type": type, "ulid": id}
    for name in ("workspace_id", "tier"):
        value = cell_text(row[name], name)
        if value:
            kept[name] = value
    if id in arcs:
        kept["arc"] = arcs[id]
    query = metadata.get("query")
    if type == "qa" and isinstance(query, str) and query.strip():
        content = f"Q: {query}\nA: {content}"
    session = cell_text(row["source_session_id"], "source_session_id")
    uses = row["access_count"]
    return Record(
        id=id,
        place=place,
        content=content,
        kind=kind_of(metadata.get("kind") or metadata.get("activity_kind"), KINDS, kind_of(type, KINDS)),
        topics=topics(metadata.get("topic"), metadata.get("topics"), metadata.get("tags"), entities.get(id)),
        created=time_or_note(seconds, row["timestamp"], place, "timestamp", report),
        importance=unit(row["importance"]),
        session=session[:200] if session else None,
        metadata=kept,
        links=tuple(links.get(id, ())),
        uses=uses if isinstance(uses, int) and uses > 0 else 0,
        used=time_or_note(seconds, row["last_accessed"], place, "last_accessed", report),
        archived=row["archived_at"] is not None,
    )


def _links(file: ForeignFile, report: TransferReport) -> dict[str, list[Link]]:
    found: dict[str, list[Link]] = {}
    if not file.has("event_edges", *EDGE_COLUMNS[:3]):
        return found
    for number, row in enumerate(file.rows("event_edges", EDGE_COLUMNS), 1):
        place = f"event_edges row {number}"
        try:
            source, target, type = (cell_text(cell, "an id") or "" for cell in row[:3])
        except BadInput as error:
            report.bad(place, error.message)
            continue
        since = time_or_note(seconds, row[4], place, "created_at", report)
        if type in BACKWARDS:
            source, target, ours = target, source, BACKWARDS[type]
        elif type in FORWARDS:
            ours = FORWARDS[type]
        else:
            report.bad(place, f"unknown edge type: {type[:60]!r}; taken as related_to")
            ours = "related_to"
        if ours == "related_to":
            report.note(f"edges of the type {type[:40]!r} are related_to here")
        sure = unit(row[3])
        found.setdefault(source, []).append(
            Link(type=ours, target=target, weight=1.0 if sure is None else sure, at=since)
        )
    return found


def _entities(file: ForeignFile, report: TransferReport) -> dict[str, list[str]]:
    """ulid -> names of the things its text speaks of, which are topics here."""
    found: dict[str, list[str]] = {}
    for joins, entities in (("graph_event_entities", "graph_entities"), ("event_entities", "graph_entities")):
        if not file.has(joins, "event_ulid", "entity_id") or not file.has(entities, "id", "name"):
            continue
        names = {}
        for number, name in file.rows(entities, ("id", "name")):
            if isinstance(number, int) and isinstance(name, bytes) and len(name) <= 200:
                names[number] = " ".join(name.decode("utf-8", "replace").split())
        for id, number in file.rows(joins, ("event_ulid", "entity_id")):
            if isinstance(id, bytes) and isinstance(number, int) and names.get(number):
                about = found.setdefault(id.decode("utf-8", "replace"), [])
                if len(about) < 50:
                    about.append(names[number])
        report.note("entities are topics here", len(names))
    return found


def _arcs(file: ForeignFile) -> dict[str, str]:
    """ulid -> the title of the arc it belongs to."""
    if not file.has("arcs", "id", "title") or not file.has("arc_events", "arc_id", "event_ulid"):
        return {}
    titles = {
        number: title[:500].decode("utf-8", "replace")
        for number, title in file.rows("arcs", ("id", "title"))
        if isinstance(number, int) and isinstance(title, bytes)
    }
    return {
        id.decode("utf-8", "replace"): titles[number]
        for number, id in file.rows("arc_events", ("arc_id", "event_ulid"))
        if isinstance(id, bytes) and isinstance(number, int) and number in titles
    }
