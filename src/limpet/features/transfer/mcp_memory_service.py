"""mcp-memory-service: `sqlite_vec.db`, schema to 19. Its vectors are made anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ...model.errors import BadInput
from ...store.foreign import Cell, ForeignFile
from .records import Link, Record, TransferReport, kind_of, seconds, time_or_note, topics, unit
from .source import cell_text, database, json_object, plain, records_of

FILE = "sqlite_vec.db"
# Their types and the types below them that are no kinds of ours; the type stays in the metadata too.
KINDS = {
    "learning": "lesson", "gotcha": "lesson", "best_practice": "lesson", "anti_pattern": "lesson", "error": "lesson",
    "bug": "lesson", "failure": "lesson", "exception": "lesson", "timeout": "lesson", "mistake": "lesson",
    "insight": "inference", "hypothesis": "inference", "user_correction": "correction", "workflow": "skill",
    "preference_signal": "preference", "architecture": "decision", "tool_choice": "decision", "approach": "decision",
    "configuration": "decision", "sprint_goal": "goal", "requirement": "goal", "deadline": "goal",
    "action_item": "goal", "conversation": "episode", "conversation_turn": "episode", "session": "episode",
    "tool_outcome": "episode", "code_edit": "episode", "command": "episode", "meeting": "episode",
    "minutes": "episode", "reference": "note",
}  # fmt: skip
# Their links that say what ours say; of some the ends change places. All others are related_to.
LINKS = {"supports": "supports", "contradicts": "contradicts"}
BACKWARDS = {"causes": "caused_by", "derived_from": "caused_by"}
# Rows that say what a text names, and no link.
NAMES = "has_entity"
COLUMNS = (
    "content_hash", "content", "tags", "memory_type", "metadata", "created_at", "updated_at", "deleted_at", "store",
    "confidence", "last_accessed", "superseded_by",
)  # fmt: skip
GRAPH = ("source_hash", "target_hash", "similarity", "created_at", "relationship_type")


class Graph(NamedTuple):
    links: dict[str, list[Link]]
    names: dict[str, list[str]]  # what a memory's text names


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """`path`: the database, or the folder that holds it. Raises BadInput."""
    what, needs = "database of mcp-memory-service", {"memories": COLUMNS[:4]}
    with database(path, report, what=what, rows="memories", needs=needs, inner=FILE) as file:
        if "beliefs" in file.tables and (count := file.count("beliefs")):
            report.note("beliefs, which it concluded by itself, were left out", count)
        graph = _graph(file, report)
        gone = _replaced(file, graph)
        yield from records_of(
            file, "memories", COLUMNS, report, lambda row, place: _record(row, place, graph, gone, report)
        )


def _record(
    row: dict[str, Cell], place: str, graph: Graph, gone: frozenset[str], report: TransferReport
) -> Record | None:
    one = plain(row)
    id, content, type = one["content_hash"], one["content"], one["memory_type"]
    if not isinstance(id, str) or not id:
        raise BadInput("it has no content_hash")
    if not isinstance(content, str):
        raise BadInput("it has no content")
    if one["deleted_at"] is not None:
        report.note("deleted memories were left out")
        return None
    metadata = json_object(cell_text(row["metadata"], "metadata"), "metadata", place, report)
    uses, tags, store = metadata.get("access_count"), one["tags"], one["store"]
    said = {"memory_type": type, "store": store if store != "default" else None}
    tagged = [tag for tag in tags.split(",") if tag.strip() != "untagged"] if isinstance(tags, str) else []
    return Record(
        id=id,
        place=place,
        content=content,
        kind=kind_of(type, KINDS),
        topics=topics(tagged, graph.names.get(id)),
        created=time_or_note(seconds, one["created_at"], place, "created_at", report),
        updated=time_or_note(seconds, one["updated_at"], place, "updated_at", report),
        # 1 is what every row has that nobody judged.
        confidence=unit(one["confidence"]) if one["confidence"] != 1 else None,
        metadata=metadata | {name: value for name, value in said.items() if isinstance(value, str)},
        links=tuple(graph.links.get(id, ())),
        uses=uses if isinstance(uses, int) and not isinstance(uses, bool) and uses > 0 else 0,
        used=time_or_note(seconds, one["last_accessed"], place, "last_accessed", report),
        archived=id in gone,
    )


def _graph(file: ForeignFile, report: TransferReport) -> Graph:
    graph = Graph({}, {})
    if not file.has("memory_graph", *GRAPH[:2]):
        return graph
    there = _hashes(file)
    for number, row in enumerate(file.rows("memory_graph", GRAPH), 1):
        place = f"memory_graph row {number}"
        try:
            source, target, type = (cell_text(row[one], GRAPH[one]) or "" for one in (0, 1, 4))
        except BadInput as error:
            report.bad(place, error.message)
            continue
        if type == NAMES:
            graph.names.setdefault(source, []).append(target)
            continue
        if not {source, target} <= there:
            report.note("links of deleted memories were left out")
            continue
        if type in BACKWARDS:
            source, target = target, source
        ours = LINKS.get(type) or BACKWARDS.get(type, "related_to")
        if ours == "related_to" and type not in ("", "related"):
            report.note(f"links of the type {type[:40]!r} are related_to here")
        near = unit(row[2])
        since = time_or_note(seconds, row[3], place, "created_at", report)
        link = Link(type=ours, target=target, weight=1.0 if near is None else near, at=since)
        graph.links.setdefault(source, []).append(link)
    return graph


def _hashes(file: ForeignFile) -> set[str]:
    """Of the memories that are not deleted."""
    rows = file.rows("memories", ("content_hash", "deleted_at"))
    return {id.decode("utf-8", "replace") for id, deleted in rows if isinstance(id, bytes) and deleted is None}


def _replaced(file: ForeignFile, graph: Graph) -> frozenset[str]:
    """Link what replaced another memory to it. Returns those whose newer version is not there."""
    there, gone = _hashes(file), set()
    for old, new in file.rows("memories", ("content_hash", "superseded_by")):
        if isinstance(old, bytes) and isinstance(new, bytes) and new:
            source, target = new.decode("utf-8", "replace"), old.decode("utf-8", "replace")
            if {source, target} <= there:
                graph.links.setdefault(source, []).append(Link(type="supersedes", target=target))
            else:
                gone.add(target)
    return frozenset(gone)
