"""Proposals for tidying: memories that say the same, and sessions of many small ones. Nothing is changed here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.dataclass import dataclass, field
from ..model.encode import JsonForm, rounded
from ..model.ids import format_id
from ..model.sequence import Holds
from ..recall.near_duplicates import about
from ..store.records import Piece
from ..text.normalise import content
from ..vectors.calibration import stored
from .view import Node, View, raw_id

if TYPE_CHECKING:
    import numpy as np

    from ..vectors.calibration import Calibration

# Cosine from which two memories of one kind count as the same (domain model), and from which memories of one topic
# count as a group that one summary could stand for. Guarded by tests/flows/test_graph.py.
SAME_COSINE = 0.92
GROUP_COSINE = 0.80
# The fewest memories of a group, of a session that is worth an episode, and what counts as small, in bytes.
MIN_GROUP = 3
MIN_SESSION = 12
SMALL_BYTES = 280
# Rows of the similarity matrix that are worked out at once: 256 x 100,000 float32 are 100 MB.
BLOCK = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(JsonForm):
    """Some memories that could become one. `similarity`: mean cosine to the first; None without vectors."""

    SHOWN = ("action", "label", "members", "similarity", "ids", "shown")

    action: str  # merge (they say the same), summarise (a group of a topic), compress (a session)
    label: str  # kind, topic or session
    members: int
    shown: list[Node]  # the first of them, at most MAX_SHOWN
    ids: list[str]  # all of them
    similarity: float | None = field(metadata=rounded(4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation(JsonForm, Holds[Proposal]):
    """Proposals, merges first, the largest first. `missing`: what could not be looked at, and why."""

    HELD = "proposals"

    proposals: list[Proposal]
    counts: dict[str, int]
    missing: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    action: str
    label: str
    places: list[int]
    similarity: float | None


# Members of a proposal that are shown whole.
MAX_SHOWN = 5


def consolidate(view: View, *, limit: int) -> Consolidation:
    """What could be merged, summarised or compressed; `limit` is per action. Exact: of what says the same words, and of
    each topic, every pair is compared.

    Memory: a float32 copy of all vectors and one block of the similarity matrix.
    """
    pieces = view.store.graph.pieces(view.held())
    groups = _sessions(view, pieces)
    missing: dict[str, str] = {}
    vectors = _vectors(view, pieces)
    if vectors is None:
        missing["vectors"] = "no memory has a vector yet; `limpet work` makes them"
    else:
        matrix, rows, calibration = vectors
        taken: set[int] = set()
        least = calibration.threshold(SAME_COSINE)
        for label, texts in _by_content(view, pieces, rows):
            places = list(texts)
            for group, similarity in _alike(matrix, [rows[i] for i in places], least, 2):
                members = [places[i] for i in group]
                taken |= set(members)
                groups.append(_Group(action="merge", label=label, places=members, similarity=similarity))
        for label, places in _by_topic(pieces, rows, taken):
            least = calibration.threshold(GROUP_COSINE)
            for group, similarity in _alike(matrix, [rows[i] for i in places], least, MIN_GROUP):
                members = [places[i] for i in group]
                groups.append(_Group(action="summarise", label=label, places=members, similarity=similarity))
    return _shown(view, pieces, groups, limit, missing)


def _shown(
    view: View, pieces: Sequence[Piece], groups: Sequence[_Group], limit: int, missing: dict[str, str]
) -> Consolidation:
    proposals = []
    counts = {}
    for action in ("merge", "summarise", "compress"):
        several = [one for one in groups if one.action == action]
        several.sort(key=lambda one: (-len(one.places), one.label, pieces[one.places[0]].id))
        counts[action] = len(several)
        proposals += several[:limit]
    heads = [pieces[i].id for one in proposals for i in one.places[:MAX_SHOWN]]
    nodes = {raw_id(node): node for node in view.nodes(dict.fromkeys(heads))}
    return Consolidation(
        proposals=[
            Proposal(
                action=one.action,
                label=one.label or nodes[pieces[one.places[0]].id].session or "",
                members=len(one.places),
                shown=[nodes[pieces[i].id] for i in one.places[:MAX_SHOWN] if pieces[i].id in nodes],
                ids=[format_id(pieces[i].id) for i in one.places],
                similarity=one.similarity,
            )
            for one in proposals
        ],
        counts=counts,
        missing=missing,
    )


def _vectors(view: View, pieces: Sequence[Piece]) -> tuple[np.ndarray, dict[int, int], Calibration] | None:
    """Unit vectors (n, d) float32 of the active embedder, place in `pieces` -> row, and how its cosines lie; None when
    there are none."""
    import numpy as np

    active = next((row for row in view.store.vectors.embedders() if row.state == "active"), None)
    if active is None:
        return None
    chunks, _ = view.store.vectors.chunks(active.num, {})
    place_of = {piece.text_id: place for place, piece in enumerate(pieces)}
    parts, places = [], []
    for chunk in chunks:
        codes = np.frombuffer(chunk.codes, dtype=np.int8).reshape(-1, active.dimensions)[: chunk.used]
        text_ids = np.frombuffer(chunk.text_ids, dtype="<i8")[: chunk.used].tolist()
        kept = [(slot, place_of[text_id]) for slot, text_id in enumerate(text_ids) if text_id in place_of]
        if kept:
            part = codes[[slot for slot, _ in kept]].astype(np.float32)
            part /= np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-9)
            parts.append(part)
            places += [place for _, place in kept]
    if not parts:
        return None
    return np.concatenate(parts), {place: row for row, place in enumerate(places)}, stored(active)


def _alike(matrix: np.ndarray, rows: Sequence[int], least: float, fewest: int) -> list[tuple[list[int], float]]:
    """Groups around a first member, in order: each takes all later ones that are near it and not taken yet.

    Returns (indices into `rows`, mean cosine to the first). O(n^2 d) in blocks; what is taken is not compared again.
    """
    import numpy as np

    vectors = matrix[np.asarray(rows, dtype=np.int64)]
    place = np.arange(len(rows))
    gone = np.zeros(len(rows), dtype=bool)
    found: list[tuple[list[int], float]] = []
    start = 0
    while start < len(vectors):
        cosines = vectors[start : start + BLOCK] @ vectors[start:].T
        near = cosines >= least
        for i in np.nonzero(near.sum(axis=1) > 1)[0].tolist():
            if gone[start + i]:
                continue
            # Later ones only: each pair once, and not with itself.
            others = i + 1 + np.nonzero(near[i, i + 1 :] & ~gone[start + i + 1 :])[0]
            if len(others) + 1 >= fewest:
                members = place[start + others].tolist()
                found.append(([int(place[start + i]), *members], float(cosines[i, others].mean())))
                gone[start + others] = True
        start += BLOCK
        if gone[start:].sum() * 4 > len(vectors) - start > 0:
            left = start + np.nonzero(~gone[start:])[0]
            vectors, place, gone, start = vectors[left], place[left], gone[left], 0
    return found


def _by_content(view: View, pieces: Sequence[Piece], rows: dict[int, int]) -> list[tuple[str, dict[int, str]]]:
    """Texts by place, of those with a vector that are alike in scope, kind, what they are about and what they say,
    oldest first: what differs in a word that says something is no more to be merged than of another kind."""
    groups: dict[tuple[object, ...], dict[int, str]] = {}
    places = sorted(rows)
    for start in range(0, len(places), BLOCK):
        read = view.memories(pieces[place].id for place in places[start : start + BLOCK])
        for place in places[start : start + BLOCK]:
            one = read.get(pieces[place].id)
            if one is not None:
                alike = (pieces[place].scope, one.kind, about(one), content(one.content))
                groups.setdefault(alike, {})[place] = one.content
    return [(pieces[next(iter(texts))].kind, texts) for texts in groups.values() if len(texts) > 1]


def _by_topic(pieces: Sequence[Piece], rows: dict[int, int], taken: set[int]) -> list[tuple[str, list[int]]]:
    """Places of small memories with a vector by (scope, topic), those of merges left out."""
    groups: dict[tuple[int, str], list[int]] = {}
    for place, piece in enumerate(pieces):
        if place in rows and place not in taken and piece.topics and piece.size <= SMALL_BYTES:
            for topic in json.loads(piece.topics):
                groups.setdefault((piece.scope, topic), []).append(place)
    return [(topic, places) for (_, topic), places in sorted(groups.items()) if len(places) >= MIN_GROUP]


def _sessions(view: View, pieces: Sequence[Piece]) -> list[_Group]:
    """Sessions of many small memories that no episode sums up yet."""
    groups: dict[int, list[int]] = {}
    for place, piece in enumerate(pieces):
        if piece.session is not None and piece.kind != "episode" and piece.size <= SMALL_BYTES:
            groups.setdefault(piece.session, []).append(place)
    summed = {edge.source for edge in view.store.edges.all(("part_of",), known_at=view.known_at)}
    found = []
    for places in groups.values():
        loose = [place for place in places if pieces[place].id not in summed]
        if len(loose) >= MIN_SESSION:
            found.append(_Group(action="compress", label="", places=loose, similarity=None))
    return found
