"""The set of moments without any text: hashed ids, figures and features; and a later run held against it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...model.clock import MICROSECONDS_PER_DAY
from ...model.errors import BadInput
from ...model.memory import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .moments import Moment
    from .needed import Need
    from .replay import Replayed

FORMAT = "limpet-eval"
# Decimals of scores and raw values.
DIGITS = 4


class Hashed:
    """Ids that are the same in each run over a store, and tell nobody else what they stand for: keyed with an id that
    is random and only the store has."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._key = hashlib.blake2b(min(ids, default="").encode(), digest_size=32).digest()

    def __call__(self, *names: object) -> str:
        text = "\0".join(map(str, names)).encode("utf-8", "replace")
        return hashlib.blake2b(text, key=self._key, digest_size=8).hexdigest()


def rows(
    moments: Sequence[Moment], needs: Sequence[Sequence[Need]], replayed: Sequence[Replayed], known: Sequence[int],
    kinds: Mapping[str, str], head: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """The lines of the file. `known`: how many memories were known at each moment."""
    from ...agents.hooks.client_adapters import CLIENT_ADAPTERS

    hashed = Hashed(list(kinds))
    yield {"format": FORMAT, "version": 1, **head}
    first = min((one.at for one in moments), default=0)
    for moment, wanted, one, count in zip(moments, needs, replayed, known, strict=True):
        ranked = list(one.answer.traces.items()) if one.answer else []
        places = {id: rank for rank, (id, _) in enumerate(ranked, 1)}
        yield {
            "moment": hashed("moment", moment.session, moment.at),
            "session": hashed("session", moment.session),
            "client": moment.client if moment.client in CLIENT_ADAPTERS else "",
            "day": (moment.at - first) // MICROSECONDS_PER_DAY,
            "characters": len(moment.prompt),
            "words": len(moment.prompt.split()),
            "question": "?" in moment.prompt,
            "looked_up": bool(moment.query),
            "whole": moment.whole,
            "known": count,
            "needs": [
                {
                    "memory": hashed("memory", need.ids[0]), "kind": _kind(need.kind), "told_again": need.told_again,
                    "evidence": round(need.evidence, DIGITS), "found": hit, "rank": places.get(need.ids[0]),
                }
                for need, hit in zip(wanted, one.found, strict=True)
            ],
            "shown": [
                {
                    "memory": hashed("memory", item.id), "kind": _kind(kinds.get(item.id, "")), "tokens": item.tokens,
                    "useful": item.useful,
                }
                for item in one.shown
            ],
            "results": [
                {
                    "memory": hashed("memory", id),
                    "signals": {name: round(signal.raw, DIGITS) for name, signal in trace.signals.items()},
                }
                for id, trace in ranked
            ],
        }  # fmt: skip


def _kind(kind: str) -> str:
    return kind if kind in KINDS else ""


def read(path: Path) -> dict[tuple[str, str], bool]:
    """(moment, memory) of each need of an export, and whether it was found. Raises BadInput, OSError."""
    found: dict[tuple[str, str], bool] = {}
    with path.open(encoding="utf-8") as file:
        try:
            if json.loads(file.readline()).get("format") != FORMAT:
                raise BadInput(f"{path} is no export of `limpet eval`")
            for line in file:
                row = json.loads(line)
                found |= {(row["moment"], need["memory"]): need["found"] for need in row["needs"]}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise BadInput(f"{path} is no export of `limpet eval`") from None
    return found


def pairs(
    earlier: Mapping[tuple[str, str], bool], moments: Sequence[Moment], needs: Sequence[Sequence[Need]],
    replayed: Sequence[Replayed], ids: Sequence[str],
) -> list[tuple[Need, bool, bool]]:  # fmt: skip
    """The needs that both runs have: (need, found then, found now)."""
    hashed = Hashed(ids)
    both = []
    for moment, wanted, one in zip(moments, needs, replayed, strict=True):
        for need, hit in zip(wanted, one.found, strict=True):
            then = earlier.get((hashed("moment", moment.session, moment.at), hashed("memory", need.ids[0])))
            if then is not None:
                both.append((need, then, hit))
    return both
