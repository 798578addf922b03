"""AgenticMemory: .amem files, version 1, read and written. The layout, little-endian:

    header 64, nodes 72 each, edges 32 each (by source), texts (u32 size + LZ4 block), features (f32), index

Every offset and length is checked before anything is stored. The index is only written, features are all zeros.
"""

from __future__ import annotations

import mmap
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...model.errors import BadInput, package_missing
from ...model.ids import parse_id
from ...rank.adjust import confidence_of
from .records import Link, Record, TransferReport, cleaned, mark_of, moment, own_metadata

if TYPE_CHECKING:
    from ...model.memory import Memory
    from .service import Source

HEADER = struct.Struct("<4sIIIQQQQQQ")
NODE = struct.Struct("<QB3xQIfIQfQIQH6x")
EDGE = struct.Struct("<QQB3xfQ")
MAGIC = b"AMEM"
VERSION = 1
KINDS = ("fact", "decision", "inference", "correction", "skill", "episode")
# Kinds of ours that they do not have.
OUR_KINDS = {"preference": "fact", "opinion": "inference", "lesson": "skill", "goal": "decision", "note": "fact"}
EDGES = ("caused_by", "supports", "contradicts", "supersedes", "related_to", "part_of", "temporal_next")
# All links of a file are in memory at once.
MAX_EDGES = 2_000_000
# The longest text that is read; the longest that is written, as their tools take it.
MAX_READ_BYTES, MAX_WRITTEN_BYTES = 1_000_000, 65_536
MAX_LINKS_OF_NODE = 4_096
DIMENSIONS = 128  # of their feature vectors; all zeros: none
# Sessions are numbers there and names here; 0 is none.
SESSION = "amem:"


class Head(NamedTuple):
    """The header: how many there are of each, and where they begin."""

    dimensions: int
    nodes: int
    edges: int
    node_table: int
    edge_table: int
    texts: int
    features: int


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """Yield records of the nodes, in the order of their ids. Raises BadInput for a file with damaged tables."""
    size = path.stat().st_size
    if size < HEADER.size:
        raise BadInput(f"{path} is no .amem file: it has {size} bytes")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        head = read_head(data, size)
        links = _links(data, head, report)
        starts = range(head.node_table, head.node_table + head.nodes * NODE.size, NODE.size)
        for done, start in enumerate(sorted(starts, key=lambda start: struct.unpack_from("<Q", data, start)), 1):
            if done % 500 == 0 or done == head.nodes:
                report.at(done, head.nodes)
            place = f"node {(start - head.node_table) // NODE.size}"
            id, type, created, session, sure, uses, used, _, at, length, _, _ = NODE.unpack_from(data, start)
            if type >= len(KINDS):
                report.bad(place, f"unknown event type {type}; taken as a note")
            try:
                if length > 2 * MAX_READ_BYTES or head.texts + at + length > head.features:
                    raise BadInput(f"its text of {length:,} bytes lies outside of the texts")
                packed = data[head.texts + at : head.texts + at + length]
                yield cleaned(
                    place, report, id=id, content=unpack_text(packed, MAX_READ_BYTES).decode("utf-8"), confidence=sure,
                    kind=KINDS[type] if type < len(KINDS) else "note", uses=uses, created=created / 1e6,
                    used=used / 1e6, session=f"{SESSION}{session}" if session else None,
                    links=tuple(links.pop(id, ())),
                )  # fmt: skip
            except BadInput as error:
                report.bad(place, error.message)
            except ValueError as error:  # also UnicodeDecodeError
                report.bad(place, f"its text cannot be read: {error}")


def read_head(data: mmap.mmap, size: int) -> Head:
    """Return the header, when all tables lie within the file. Raises BadInput."""
    magic, version, dimensions, _, *counts = HEADER.unpack_from(data)
    if magic != MAGIC:
        raise BadInput("not an .amem file")
    if version != VERSION:
        raise BadInput(f"version {version} of .amem is not known; {VERSION} is")
    head = Head(dimensions, *counts)
    for name, start, length in (
        ("nodes", head.node_table, head.nodes * NODE.size),
        ("edges", head.edge_table, head.edges * EDGE.size),
        ("texts", head.texts, 0),
        ("features", head.features, head.nodes * dimensions * 4),
    ):
        if start < HEADER.size or start + length > size:
            raise BadInput(
                f"the .amem file is damaged or was cut off: its {name} end at {start + length:,} of {size:,}"
            )
    if head.edges > MAX_EDGES:
        raise BadInput(f"the .amem file holds {head.edges:,} links, {MAX_EDGES:,} at most")
    if head.texts > head.features:
        raise BadInput("the .amem file is damaged: its texts begin behind their end")
    return head


def _links(data: mmap.mmap, head: Head, report: TransferReport) -> dict[int, list[Link]]:
    links: defaultdict[int, list[Link]] = defaultdict(list)
    for i in range(head.edges):
        source, target, type, weight, at = EDGE.unpack_from(data, head.edge_table + i * EDGE.size)
        try:
            if type >= len(EDGES):
                raise BadInput(f"unknown edge type {type}")
            if not 0 <= weight <= 1_000:
                raise BadInput(f"its weight {weight!r} is no number from 0 to 1000")
            links[source].append(Link(type=EDGES[type], target=str(target), weight=weight, at=moment(at / 1e6)))
        except BadInput as error:
            report.bad(f"edge {i}", error.message)
    return links


def _lz4() -> Any:
    try:
        from lz4 import block
    except ModuleNotFoundError as error:
        raise package_missing(error, "amem") from error
    return block


def unpack_text(blob: bytes, limit: int) -> bytes:
    """Return the bytes of an LZ4 block after its size, `limit` at most. Raises ValueError for one of another size."""
    block = _lz4()
    size = int.from_bytes(blob[:4], "little")
    if size > limit:  # before anything is made room for
        raise ValueError(f"{size:,} bytes declared, {limit:,} at most")
    try:
        text: bytes = block.decompress(blob)
    except block.LZ4BlockError as error:
        raise ValueError(f"not an LZ4 block: {error}") from None
    if len(text) != size:
        raise ValueError(f"{len(text):,} bytes where {size:,} were declared")
    return text


def pack_text(text: bytes) -> bytes:
    """Compress a text for `unpack_text`."""
    packed: bytes = _lz4().compress(text)
    return packed


# -- written

_LOST: dict[str, Callable[[Memory], object]] = {
    "topics": lambda memory: memory.topics,
    "keys": lambda memory: memory.key,
    "speakers": lambda memory: memory.speaker,
    "sources": lambda memory: memory.source,
    "importance": lambda memory: memory.importance != 0.5,
    "pins": lambda memory: memory.pinned,
    "an end of validity": lambda memory: memory.valid_to is not None and memory.superseded_by is None,
    "origin and trust": lambda memory: memory.origin != "import",
    "metadata": own_metadata,
}


def write(source: Source, path: Path) -> int:
    """Write active memories, superseded ones too, with the links between them. Return the number of nodes."""
    memories = []
    for memory in source.memories(_LOST, ended=True):
        size = len(memory.content.encode())
        if size > MAX_WRITTEN_BYTES:
            source.report.bad(memory.id, f"its text has {size:,} bytes, {MAX_WRITTEN_BYTES:,} at most: left out")
        else:
            memories.append(memory)
    marks = {memory.id: mark_of(memory) for memory in memories}
    ids = _numbers({id: str(mark.get("id")) if mark.get("from") == "amem" else "" for id, mark in marks.items()}, 64, 0)
    memories.sort(key=lambda memory: ids[memory.id])
    names = dict.fromkeys(memory.session for memory in memories if memory.session)
    if any(not name.startswith(SESSION) for name in names):
        source.report.note("names of sessions are numbers there")
    sessions = _numbers({name: name.removeprefix(SESSION) if name.startswith(SESSION) else "" for name in names}, 32, 1)
    edges = _edges(source, {parse_id(memory.id): ids[memory.id] for memory in memories})
    links = Counter(edge[0] for edge in edges)
    rows: list[tuple[int, int, int, int]] = []  # id, kind, time, session: what the index is made of
    nodes, texts, edge_at = bytearray(), bytearray(), 0
    for memory in memories:
        id, kind = ids[memory.id], OUR_KINDS.get(memory.kind, memory.kind)
        if kind != memory.kind:
            source.report.note(f"the kind {memory.kind} is {kind} there")
        packed = pack_text(memory.content.encode())
        rows.append((id, KINDS.index(kind), max(0, memory.valid_from_us), sessions.get(memory.session or "", 0)))
        used = max(0, memory.used_at_us or memory.valid_from_us)
        sure = memory.stated_confidence  # to the last digit
        sure = confidence_of(memory, source.now) if sure is None else sure
        uses = min(memory.uses, 0xFFFFFFFF)
        nodes += NODE.pack(*rows[-1], sure, uses, used, 1.0, len(texts), len(packed), edge_at, links[id])
        texts += packed
        edge_at += links[id] * EDGE.size
    edge_table = HEADER.size + len(nodes)
    text_block = edge_table + len(edges) * EDGE.size
    tables = HEADER.size, edge_table, text_block, text_block + len(texts)
    with source.new_file(path) as file:
        file.write(HEADER.pack(MAGIC, VERSION, DIMENSIONS, 0, len(rows), len(edges), *tables) + nodes)
        file.writelines(EDGE.pack(*edge) for edge in edges)
        file.write(texts)
        file.writelines(bytes(4 * DIMENSIONS) for _ in rows)
        file.write(_index(rows))
    return len(rows)


def _numbers(had: dict[str, str], bits: int, first: int) -> dict[str, int]:
    """Return a number from `first` for each name: the one it had before, or the next free one."""
    taken: dict[int, str] = {}
    for name, text in had.items():
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 21 else -1
        if first <= number < 1 << bits:
            taken.setdefault(number, name)
    numbers = {name: number for number, name in taken.items()}
    free = (number for number in count(first) if number not in taken)
    return {name: numbers[name] if name in numbers else next(free) for name in had}


def _edges(source: Source, ids: dict[bytes, int]) -> list[tuple[int, int, int, float, int]]:
    edges = sorted(
        (ids[edge.source], ids[edge.target], EDGES.index(edge.type), edge.weight, max(0, at))
        for edge, at in source.edges(set(ids), EDGES[:-1])
    )
    kept: list[tuple[int, int, int, float, int]] = []
    counts: Counter[int] = Counter()
    for edge in edges:
        counts[edge[0]] += 1
        if counts[edge[0]] <= MAX_LINKS_OF_NODE:
            kept.append(edge)
        else:
            source.report.bad(f"node {edge[0]}", f"more than {MAX_LINKS_OF_NODE:,} links: one to {edge[1]} left out")
    return kept


def _index(rows: list[tuple[int, int, int, int]]) -> bytes:
    """Return the index by type, time and session, without clusters: their tools would rebuild these."""

    def grouped(column: int, form: str) -> bytes:
        ids: defaultdict[int, list[int]] = defaultdict(list)
        for row in rows:
            ids[row[column]].append(row[0])
        return b"".join(struct.pack(f"{form}Q{len(own)}Q", name, len(own), *own) for name, own in sorted(ids.items()))

    by_time = struct.pack("<Q", len(rows))
    by_time += b"".join(struct.pack("<QQ", at, id) for at, id in sorted((at, id) for id, _, at, _ in rows))
    by_session = struct.pack("<I", len({row[3] for row in rows})) + grouped(3, "<I")
    parts = (grouped(1, "<B"), by_time, by_session, struct.pack("<II", 0, DIMENSIONS))
    return b"".join(struct.pack("<BQ", tag, len(part)) + part for tag, part in enumerate(parts, 1))
