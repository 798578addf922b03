"""Other programs' files, read and written: Memori, PMB and the MCP reference memory server.

A reader is a table of fields, where what stands there, and a loop over rows or lines. It trusts nothing in the file. A
writer says in the report what its format cannot hold.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...model.edges import STORED_TYPES
from ...model.errors import BadInput
from ...model.ids import parse_id
from ...store.foreign import Cell, ForeignFile, TooLarge, is_sqlite
from .records import (
    MAX_TOPICS,
    Link,
    Record,
    TransferReport,
    bounded,
    cleaned,
    digest,
    encode,
    facts_of,
    kind_of,
    mark_of,
    moment,
    note_lost,
    own_metadata,
    parsed,
    picked,
    records_from,
    topics,
)

if TYPE_CHECKING:
    from .service import Source


def json_lines(path: Path, report: TransferReport) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of every line that is one; the others go into the report. Raises BadInput."""
    total, done = path.stat().st_size, 0
    with path.open("rb") as file:
        if b"\0" in file.read(4_096):
            raise BadInput(f"{path} is not text")
        file.seek(0)
        for number, line in enumerate(bounded(file), 1):
            done += len(line)
            if number % 500 == 0:
                report.at(done, total)
            try:
                if line.strip():
                    yield number, parsed(line)
            except BadInput as error:
                report.bad(f"line {number}", error.message)
    report.at(total, total)


@contextlib.contextmanager
def database(
    path: Path, report: TransferReport, *, what: str, needs: tuple[str, str], inner: str = ""
) -> Iterator[ForeignFile]:
    """`path`, or in a folder the file `inner`. `needs`: a table, and its columns. Damage is reported.

    Raises BadInput.
    """
    if inner and path.is_dir():
        path = path / inner
        if not path.is_file():
            raise BadInput(f"{path.parent} holds no {inner}")
    with ForeignFile(path) as file:
        table, columns = needs
        if not file.has(table, *columns.split()):
            raise BadInput(f"{path} is no {what}: it has no table of {table}")
        report_damage(file, report)
        yield file


def report_damage(file: ForeignFile, report: TransferReport) -> None:
    """Say that a database is damaged; what can be read of it is read all the same."""
    damage = file.damage()
    if damage is not None:
        report.bad(file.path.name, f"{damage}. What can be read is taken; a repaired copy: sqlite3 FILE .recover")


def table_rows(
    file: ForeignFile, table: str, columns: str, report: TransferReport, *, named: str = "row"
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(place, cells by name, texts read) of every row; one that cannot be read goes into the report."""
    names, total = columns.split(), file.count(table)
    for number, row in enumerate(file.rows(table, names), 1):
        if number % 500 == 0 or number == total:
            report.at(number, total)
        try:
            cells = {name: _cell(cell, name) for name, cell in zip(names, row, strict=True)}
        except BadInput as error:
            report.bad(f"{named} {number}", error.message)
        else:
            yield f"{named} {number}", cells


def _cell(value: Cell, name: str) -> Any:
    """A cell of a foreign database, its text read. Raises BadInput."""
    if isinstance(value, TooLarge):
        raise BadInput(f"{name} is too long: {value:,} bytes")
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8: {error.reason} at {error.start}") from None


def json_object(text: Any, what: str, place: str, report: TransferReport) -> dict[str, Any]:
    """The object that a cell holds as JSON. Anything else is reported, and the record goes on without it."""
    if not text:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError, TypeError) as error:
        report.bad(place, f"{what} is not JSON: {error}; taken without it")
        return {}
    if isinstance(value, dict):
        return value
    report.bad(place, f"{what} is no object; taken without it")
    return {}


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


def write_memori(source: Source, path: Path) -> int:
    """JSONL as `memori import` reads it. Returns the number of memories."""
    names: set[str] = set()
    lost = {"the end of validity": lambda memory: memory.valid_to, "pins": lambda memory: memory.pinned}
    with source.new_file(path) as file:
        for memory in source.memories(ended=False):
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
            more = facts_of(memory) | {
                "metadata": None,
                "source": memory.source,
                "scope": memory.scope if mark.get("from") != "memori" else None,
            }
            metadata = {name: value for name, value in more.items() if value is not None} | metadata
            line = {
                "id": id,
                "content": memory.content,
                "metadata": metadata or None,
                "created_at": created / 1e6,
                "updated_at": (moment(mark.get("updated")) or max(memory.valid_from_us, created)) / 1e6,
                "last_accessed": (memory.used_at_us or 0) / 1e6,
                "access_count": memory.uses,
                "vector": None,
            }
            file.write((encode(line) + "\n").encode())
            note_lost([memory], source.report, lost)
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
# Their edges lead from the older event to the newer one; ours from what rests to what it rests on.
_PMB_BACKWARDS = frozenset({"causes", "influenced", "enabled"})
_PMB_LINKS = {"contradicts": "contradicts", "temporal-next": "temporal_next"}


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


def write_mcp(source: Source, path: Path) -> int:
    """JSONL of entities and relations. A memory is an observation of what it is about: its entity, or first topic."""
    entities: dict[str, tuple[str, list[str]]] = {}
    of: dict[bytes, str] = {}
    relations: dict[tuple[str, str, str], None] = {}
    written = 0
    for memory in source.memories(ended=False):
        written += 1
        data = own_metadata(memory)
        relation = data.get("relation")
        if isinstance(relation, dict) and set(relation) == {"from", "type", "to"}:
            relations[str(relation["from"]), str(relation["type"]), str(relation["to"])] = None
            continue
        name = data.get("entity")
        name = name if isinstance(name, str) and name else memory.topics[0] if memory.topics else memory.scope
        type = data.get("entity_type")
        known = entities.setdefault(name, (type if isinstance(type, str) else "topic", []))
        of[parse_id(memory.id)] = name
        if "entity" in data and "observation" not in data:
            continue
        known[1].append(memory.content.removeprefix(f"{name}: "))
        source.report.note("times, kinds, confidence, sessions and other metadata: no place in this format")
    for edge, _ in source.edges(set(of), STORED_TYPES):
        ends = of[edge.source], of[edge.target]
        if ends[0] == ends[1]:
            source.report.note("links between two observations of one entity: no place in this format")
        elif edge.type != "related_to" or not any((one[0], one[2]) in (ends, ends[::-1]) for one in relations):
            relations.setdefault((ends[0], edge.type, ends[1]))
    with source.new_file(path) as file:
        for name, (type, texts) in entities.items():
            line = {"type": "entity", "name": name, "entityType": type, "observations": list(dict.fromkeys(texts))}
            file.write((encode(line) + "\n").encode())
        for source_name, type, target in relations:
            line = {"type": "relation", "from": source_name, "to": target, "relationType": type}
            file.write((encode(line) + "\n").encode())
    return written
