"""Keys that may name the same thing ("user.town", "user.city"): found by meaning, joined by a person alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.clock import Clock
from ..model.ids import IdSource, parse_id
from ..model.memory import Memory
from ..rank.constants import SYNONYM_COSINE
from ..store.records import Proposal
from ..text.difference import differences
from ..vectors.calibration import Calibration
from ..vectors.embedder import Embedder

if TYPE_CHECKING:
    from ..store import Store

# Keys of a scope that a new one is compared with, the most alike proposed.
COMPARED, PROPOSED = 1_000, 2


def propose_synonyms(
    store: Store, embedder: Embedder, calibration: Calibration, new: Memory, clock: Clock, ids: IdSource
) -> None:
    """For the first value of a key: older keys of its scope that mean the same are put on the review list.

    Embeds a phrase for each key of the scope. Raises EmbedderUnavailable.
    """
    assert new.key is not None
    values = store.memories.keyed(new.scope, new.key)
    if not values or min(values, key=lambda one: (one.created_at, one.id)).id != new.id:
        return
    others = [key for key in store.memories.keys(new.scope) if key != new.key][:COMPARED]
    if not others:
        return
    vectors = embedder.embed_passages([_phrase(key) for key in (new.key, *others)])
    cosines = calibration.of_texts(vectors[1:] @ vectors[0])
    near = sorted(zip(map(float, cosines), others, strict=True), reverse=True)[:PROPOSED]
    found = [(cosine, key) for cosine, key in near if cosine >= SYNONYM_COSINE and _same(new.key, key)]
    store.reviews.propose(
        [one for pair in found if (one := _proposal(store, new, *pair, ids.make(clock.now()), clock.now()))]
    )


def _phrase(key: str) -> str:
    subject, _, attribute = key.partition(".")
    return f"the {_words(attribute)} of {_words(subject)}"


def _words(part: str) -> str:
    return " ".join(part.replace(".", " ").replace("_", " ").replace("-", " ").split())


def _same(a: str, b: str) -> bool:
    """Whether nothing tells them apart that meaning does not see: numbers, opposites ("max", "min")."""
    return not differences(_words(a), _words(b)).conflict


def _proposal(store: Store, new: Memory, cosine: float, key: str, id: bytes, at: int) -> Proposal | None:
    older: Sequence[Memory] = [one for one in store.memories.keyed(new.scope, key) if one.created_at <= new.created_at]
    if not older:
        return None
    return Proposal(
        id=id,
        kind="key",
        scope=new.scope,
        memory=parse_id(new.id),
        other=parse_id(older[-1].id),
        reason=f"{new.key} and {key}",
        score=round(cosine, 4),
        created_at=at,
    )
