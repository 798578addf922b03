"""Memories as an .amem file, version 1: `amem.py` says how it lies in the file."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from pathlib import Path

from ...model.ids import parse_id
from ...model.memory import Memory
from . import amem
from .writers import Source, mark_of, own_metadata

DIMENSIONS = 128  # of their feature vectors; all zeros: none
# What their tools take at most.
MAX_TEXT_BYTES = 65_536
MAX_EDGES = 4_096
# Kinds they do not have.
KINDS = {"preference": "fact", "opinion": "inference", "lesson": "skill", "goal": "decision", "note": "fact"}
LOST = {
    "topics": lambda one: one.topics,
    "metadata": own_metadata,
    "keys": lambda one: one.key,
    "speakers": lambda one: one.speaker,
    "sources": lambda one: one.source,
    "importance": lambda one: one.importance != 0.5,
    "pins": lambda one: one.pinned,
    "an end of validity": lambda one: one.valid_to is not None and one.superseded_by is None,
    "origin and trust": lambda one: one.origin != "import",
}


def write(source: Source, path: Path) -> int:
    """Active memories, superseded ones too, with the links between them. Returns the number of nodes."""
    memories = _fitting(source)
    ids = _numbers(memories)
    memories.sort(key=lambda one: ids[one.id])
    sessions = _sessions(memories)
    if any(not one.startswith(amem.SESSION) for one in sessions):
        source.report.note("names of sessions are numbers there")
    edges = _edges(source, {parse_id(one.id): ids[one.id] for one in memories})
    texts, nodes, at, place = [], [], 0, 0
    for one in memories:
        packed = amem.pack_text(one.content.encode())
        own = sum(1 for edge in edges[place : place + MAX_EDGES] if edge[0] == ids[one.id])
        kind = KINDS.get(one.kind, one.kind)
        if kind != one.kind:
            source.report.note(f"the kind {one.kind} is {kind} there")
        for what, there in LOST.items():
            if there(one):  # type: ignore[no-untyped-call]
                source.report.note(f"{what}: no place in this format")
        nodes.append(
            amem.NODE.pack(
                ids[one.id],
                amem.KINDS.index(kind),
                max(0, one.valid_from_us),
                sessions.get(one.session or "", 0),
                source.sure(one),
                min(one.uses, 0xFFFFFFFF),
                max(0, one.used_at_us or one.valid_from_us),
                1.0,
                at,
                len(packed),
                place * amem.EDGE.size,
                own,
            )
        )
        texts.append(packed)
        at += len(packed)
        place += own
    node_table = amem.HEADER.size
    edge_table = node_table + len(nodes) * amem.NODE.size
    text_block = edge_table + len(edges) * amem.EDGE.size
    features = text_block + at
    with source.new_file(path) as file:
        file.write(
            amem.HEADER.pack(
                amem.MAGIC, amem.VERSION, DIMENSIONS, 0, len(nodes), len(edges),
                node_table, edge_table, text_block, features,
            )
        )  # fmt: skip
        file.writelines(nodes)
        file.writelines(amem.EDGE.pack(*edge) for edge in edges)
        file.writelines(texts)
        for _ in nodes:
            file.write(bytes(4 * DIMENSIONS))
        file.write(_index(memories, ids, sessions))
    return len(nodes)


def _fitting(source: Source) -> list[Memory]:
    found = []
    for one in source.memories(ended=True):
        size = len(one.content.encode())
        if size > MAX_TEXT_BYTES:
            source.report.bad(one.id, f"its text has {size:,} bytes, {MAX_TEXT_BYTES:,} at most: left out")
        else:
            found.append(one)
    return found


def _numbers(memories: Sequence[Memory]) -> dict[str, int]:
    """The numbers they had there, and the next free ones for the others."""
    ids: dict[str, int] = {}
    taken: set[int] = set()
    for one in memories:
        mark = mark_of(one)
        had = str(mark.get("id", ""))
        if (
            mark.get("from") == "amem"
            and had.isascii()
            and had.isdigit()
            and int(had) < 1 << 64
            and int(had) not in taken
        ):
            ids[one.id] = int(had)
            taken.add(int(had))
    free = 0
    for one in memories:
        if one.id not in ids:
            while free in taken:
                free += 1
            ids[one.id] = free
            taken.add(free)
    return ids


def _sessions(memories: Sequence[Memory]) -> dict[str, int]:
    """Name -> number, from 1: the number it had there, or the next free one."""
    names = dict.fromkeys(one.session for one in memories if one.session)
    numbers: dict[str, int] = {}
    for name in names:
        had = name.removeprefix(amem.SESSION)
        if name.startswith(amem.SESSION) and re.fullmatch("[1-9][0-9]{0,9}", had) and int(had) < 1 << 32:
            numbers[name] = int(had)
    taken, free = set(numbers.values()), 1
    for name in names:
        if name not in numbers:
            while free in taken:
                free += 1
            numbers[name] = free
            taken.add(free)
    return numbers


def _edges(source: Source, ids: dict[bytes, int]) -> list[tuple[int, int, int, float, int]]:
    found = sorted(
        (ids[edge.source], ids[edge.target], amem.EDGES.index(edge.type), edge.weight, max(0, at))
        for edge, at in source.edges(set(ids), amem.EDGES[:-1])
    )
    kept: list[tuple[int, int, int, float, int]] = []
    counts: dict[int, int] = {}
    for edge in found:
        counts[edge[0]] = counts.get(edge[0], 0) + 1
        if counts[edge[0]] <= MAX_EDGES:
            kept.append(edge)
        else:
            source.report.bad(f"node {edge[0]}", f"more than {MAX_EDGES:,} links: one to {edge[1]} was left out")
    return kept


def _index(memories: Sequence[Memory], ids: dict[str, int], sessions: dict[str, int]) -> bytes:
    """By type, by time, by session, and no clusters: what their tools would rebuild."""
    types: dict[int, list[int]] = {}
    runs: dict[int, list[int]] = {}
    for one in memories:
        types.setdefault(amem.KINDS.index(KINDS.get(one.kind, one.kind)), []).append(ids[one.id])
        runs.setdefault(sessions.get(one.session or "", 0), []).append(ids[one.id])
    by_type = b"".join(struct.pack(f"<BQ{len(own)}Q", type, len(own), *own) for type, own in sorted(types.items()))
    times = sorted((max(0, one.valid_from_us), ids[one.id]) for one in memories)
    by_time = struct.pack("<Q", len(times)) + b"".join(struct.pack("<QQ", *one) for one in times)
    by_session = struct.pack("<I", len(runs)) + b"".join(
        struct.pack(f"<IQ{len(own)}Q", number, len(own), *own) for number, own in sorted(runs.items())
    )
    parts = (by_type, by_time, by_session, struct.pack("<II", 0, DIMENSIONS))
    return b"".join(struct.pack("<BQ", tag, len(part)) + part for tag, part in enumerate(parts, 1))
