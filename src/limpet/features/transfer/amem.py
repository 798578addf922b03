"""AgenticMemory: .amem files, version 1. The layout, little-endian:

    header 64, nodes 72 each, edges 32 each (by source), texts (u32 size + LZ4 block), features (f32), index

Every offset and length is checked against the file's size before anything is stored. The index can be rebuilt and is
not read.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ...model.errors import BadInput, message_of, package_missing
from .records import Link, Record, TransferReport, in_range, time_or_note, unit

HEADER = struct.Struct("<4sIIIQQQQQQ")
NODE = struct.Struct("<QB3xQIfIQfQIQH6x")
EDGE = struct.Struct("<QQB3xfQ")
MAGIC = b"AMEM"
VERSION = 1
KINDS = ("fact", "decision", "inference", "correction", "skill", "episode")
EDGES = ("caused_by", "supports", "contradicts", "supersedes", "related_to", "part_of", "temporal_next")
# All links of a file are in memory at once.
MAX_EDGES = 2_000_000
# Texts above this are refused; their own tools stop at 65,536.
MAX_TEXT_BYTES = 1_000_000
# Sessions are numbers there and names here; 0 is none.
SESSION = "amem:"


class Head(NamedTuple):
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
        order = sorted(range(head.nodes), key=lambda i: struct.unpack_from("<Q", data, head.node_table + i * NODE.size))
        links = _links(data, head, report)
        for done, i in enumerate(order, 1):
            if done % 500 == 0 or done == head.nodes:
                report.at(done, head.nodes)
            try:
                yield _record(data, head, i, links, report)
            except (BadInput, ValueError) as error:
                report.bad(f"node {i}", message_of(error))


def read_head(data: mmap.mmap, size: int) -> Head:
    """The header, when all tables lie within the file. Raises BadInput."""
    magic, version, dimensions, _, nodes, edges, node_table, edge_table, texts, features = HEADER.unpack_from(data)
    if magic != MAGIC:
        raise BadInput("not an .amem file")
    if version != VERSION:
        raise BadInput(f"version {version} of .amem is not known; {VERSION} is")
    head = Head(dimensions, nodes, edges, node_table, edge_table, texts, features)
    for name, start, length in (
        ("nodes", node_table, nodes * NODE.size),
        ("edges", edge_table, edges * EDGE.size),
        ("texts", texts, 0),
        ("features", features, nodes * dimensions * 4),
    ):
        if start < HEADER.size or start + length > size:
            raise BadInput(
                f"the .amem file is damaged or was cut off: its {name} end at {start + length:,} of {size:,}"
            )
    if edges > MAX_EDGES:
        raise BadInput(f"the .amem file holds {edges:,} links, {MAX_EDGES:,} at most")
    if texts > features:
        raise BadInput("the .amem file is damaged: its texts begin behind their end")
    return head


def _links(data: mmap.mmap, head: Head, report: TransferReport) -> dict[int, list[Link]]:
    found: dict[int, list[Link]] = {}
    for i in range(head.edges):
        source, target, type, weight, at = EDGE.unpack_from(data, head.edge_table + i * EDGE.size)
        place = f"edge {i}"
        if type >= len(EDGES):
            report.bad(place, f"unknown edge type {type}")
            continue
        if not 0 <= weight <= 1_000:
            report.bad(place, f"its weight {weight!r} is no number from 0 to 1000")
            continue
        since = time_or_note(lambda value: in_range(value) if value else None, at, place, "created_at", report)
        found.setdefault(source, []).append(Link(type=EDGES[type], target=str(target), weight=weight, at=since))
    return found


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
        found: bytes = block.decompress(blob)
    except block.LZ4BlockError as error:
        raise ValueError(f"not an LZ4 block: {error}") from None
    if len(found) != size:
        raise ValueError(f"{len(found):,} bytes where {size:,} were declared")
    return found


def pack_text(text: bytes) -> bytes:
    """What `unpack_text` reads."""
    packed: bytes = _lz4().compress(text)
    return packed


def _record(data: mmap.mmap, head: Head, i: int, links: dict[int, list[Link]], report: TransferReport) -> Record:
    (id, type, created, session, confidence, uses, used, _, text_at, text_length, _, _) = NODE.unpack_from(
        data, head.node_table + i * NODE.size
    )
    place = f"node {i}"
    if type >= len(KINDS):
        report.bad(place, f"unknown event type {type}; taken as a note")
    start = head.texts + text_at
    if text_length > 2 * MAX_TEXT_BYTES or start + text_length > head.features:
        raise BadInput(f"its text of {text_length:,} bytes lies outside of the texts")
    raw = unpack_text(data[start : start + text_length], MAX_TEXT_BYTES)
    try:
        content = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"its text is not UTF-8: {error.reason} at {error.start}") from None
    sure = unit(confidence)
    if sure is None:
        report.bad(place, f"its confidence {confidence!r} is no number from 0 to 1; taken without it")
    at = head.features + i * head.dimensions * 4
    vector = data[at : at + head.dimensions * 4] if head.dimensions else None
    return Record(
        id=str(id),
        place=place,
        content=content,
        kind=KINDS[type] if type < len(KINDS) else "note",
        created=time_or_note(lambda value: in_range(value) if value else None, created, place, "created_at", report),
        confidence=sure,
        session=f"{SESSION}{session}" if session else None,
        links=tuple(links.pop(id, ())),
        vector=vector if vector and any(vector) else None,
        uses=uses,
        used=time_or_note(lambda value: in_range(value) if value else None, used, place, "last_accessed", report),
    )
