"""AgenticMemory: .amem files, version 1, read and written. The layout, little-endian:

    header 64, nodes 72 each, edges 32 each (by source), texts (u32 size + LZ4 block), features (f32), index

Every offset and length is checked against the file's size before anything is stored. The index can be rebuilt: it is
written and not read. Features are neither: other embeddings than ours.
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
from .records import Link, Record, TransferReport, cleaned, mark_of, moment, own_metadata, records_from

if TYPE_CHECKING:
    from ...model.memory import Memory
    from .service import Source

HEADER = struct.Struct("<4sIIIQQQQQQ")
NODE = struct.Struct("<QB3xQIfIQfQIQH6x")
# The first fields of a node; where its edges are follows.
NODE_FIELDS = ("id", "type", "created", "session", "confidence", "uses", "used", "decay", "text", "length")
EDGE = struct.Struct("<QQB3xfQ")
MAGIC = b"AMEM"
VERSION = 1
KINDS = ("fact", "decision", "inference", "correction", "skill", "episode")
# Kinds of ours that they do not have.
OUR_KINDS = {"preference": "fact", "opinion": "inference", "lesson": "skill", "goal": "decision", "note": "fact"}
EDGES = ("caused_by", "supports", "contradicts", "supersedes", "related_to", "part_of", "temporal_next")
# All links of a file are in memory at once.
MAX_EDGES = 2_000_000
# Texts above this are refused, and none longer are written: what their tools take.
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
    """Records of the nodes, in the order of their ids. Raises BadInput for a file whose tables cannot be right."""
    size = path.stat().st_size
    if size < HEADER.size:
        raise BadInput(f"{path} is no .amem file: it has {size} bytes")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        head = read_head(data, size)
        links = _links(data, head, report)
        order = sorted(range(head.nodes), key=lambda i: struct.unpack_from("<Q", data, head.node_table + i * NODE.size))

        def nodes() -> Iterator[tuple[str, dict[str, Any]]]:
            for done, i in enumerate(order, 1):
                if done % 500 == 0 or done == head.nodes:
                    report.at(done, head.nodes)
                values = NODE.unpack_from(data, head.node_table + i * NODE.size)
                yield f"node {i}", dict(zip(NODE_FIELDS, values, strict=False))

        def record(node: dict[str, Any], place: str) -> Record:
            if node["type"] >= len(KINDS):
                report.bad(place, f"unknown event type {node['type']}; taken as a note")
            start, length = head.texts + node["text"], node["length"]
            if length > 2 * MAX_READ_BYTES or start + length > head.features:
                raise BadInput(f"its text of {length:,} bytes lies outside of the texts")
            try:
                content = unpack_text(data[start : start + length], MAX_READ_BYTES).decode("utf-8")
            except ValueError as error:  # also UnicodeDecodeError
                raise BadInput(f"its text cannot be read: {error}") from None
            return cleaned(
                place, report, id=node["id"], content=content, confidence=node["confidence"], uses=node["uses"],
                kind=KINDS[node["type"]] if node["type"] < len(KINDS) else "note",
                created=node["created"] / 1e6, used=node["used"] / 1e6,
                session=f"{SESSION}{node['session']}" if node["session"] else None,
                links=tuple(links.pop(node["id"], ())),
            )  # fmt: skip

        yield from records_from(nodes(), report, record)


def read_head(data: mmap.mmap, size: int) -> Head:
    """The header, when all tables lie within the file. Raises BadInput."""
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
    """The bytes of an LZ4 block behind its size, `limit` at most. Raises ValueError for what is none of that size."""
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
    """What `unpack_text` reads."""
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
    """Active memories, superseded ones too, with the links between them. Returns the number of nodes."""
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
    texts, nodes, at, place = [], [], 0, 0
    for memory in memories:
        id, kind = ids[memory.id], OUR_KINDS.get(memory.kind, memory.kind)
        if kind != memory.kind:
            source.report.note(f"the kind {memory.kind} is {kind} there")
        packed = pack_text(memory.content.encode())
        row = id, KINDS.index(kind), max(0, memory.valid_from_us), sessions.get(memory.session or "", 0)
        used = max(0, memory.used_at_us or memory.valid_from_us)
        sure = memory.stated_confidence  # to the last digit
        sure = confidence_of(memory, source.now) if sure is None else sure
        nodes.append(
            NODE.pack(
                *row, sure, min(memory.uses, 0xFFFFFFFF), used, 1.0, at, len(packed),
                place * EDGE.size, links[id],
            )
        )  # fmt: skip
        rows.append(row)
        texts.append(packed)
        at += len(packed)
        place += links[id]
    edge_table = HEADER.size + len(nodes) * NODE.size
    text_block = edge_table + len(edges) * EDGE.size
    with source.new_file(path) as file:
        file.write(
            HEADER.pack(
                MAGIC, VERSION, DIMENSIONS, 0, len(nodes), len(edges), HEADER.size, edge_table, text_block,
                text_block + at,
            )
        )  # fmt: skip
        file.writelines(nodes)
        file.writelines(EDGE.pack(*edge) for edge in edges)
        file.writelines(texts)
        for _ in nodes:
            file.write(bytes(4 * DIMENSIONS))
        file.write(_index(rows))
    return len(nodes)


def _numbers(had: dict[str, str], bits: int, first: int) -> dict[str, int]:
    """A number from `first` for each name: the one it had there, if it had one, or the next free one."""
    numbers: dict[str, int] = {}
    taken: set[int] = set()
    for name, text in had.items():
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 21 else -1
        if first <= number < 1 << bits and number not in taken:
            numbers[name] = number
            taken.add(number)
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
    """By type, by time, by session, and no clusters: what their tools would rebuild."""
    types: defaultdict[int, list[int]] = defaultdict(list)
    runs: defaultdict[int, list[int]] = defaultdict(list)
    for id, kind, _, session in rows:
        types[kind].append(id)
        runs[session].append(id)
    by_type = b"".join(struct.pack(f"<BQ{len(own)}Q", kind, len(own), *own) for kind, own in sorted(types.items()))
    times = sorted((at, id) for id, _, at, _ in rows)
    by_time = struct.pack("<Q", len(times)) + b"".join(struct.pack("<QQ", *pair) for pair in times)
    by_session = struct.pack("<I", len(runs)) + b"".join(
        struct.pack(f"<IQ{len(own)}Q", number, len(own), *own) for number, own in sorted(runs.items())
    )
    parts = (by_type, by_time, by_session, struct.pack("<II", 0, DIMENSIONS))
    return b"".join(struct.pack("<BQ", tag, len(part)) + part for tag, part in enumerate(parts, 1))
