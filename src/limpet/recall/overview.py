"""The answer to a question about the memory itself ("what do you know about me?"): what there is of what, and first
what stands, then what is used most, then the newest."""

from __future__ import annotations

from collections import Counter
from itertools import chain

from ..model.errors import counted
from ..model.memory import FOREIGN
from .pack import cost_of, fit
from .plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.memory import Filter, Memory
    from ..store import Store

# Kinds, and topics, that are named.
NAMED = 20
HOW = "`limpet list` shows all, `limpet list --by topic` and `--by entity` what they are about."


def counts(store: Store, where: Filter) -> dict[str, dict[str, int]]:
    """Return how many memories there are of each kind, and of each of the commonest topics of those that somebody here
    vouches for: an agent is shown their names. The most first."""
    topics = Counter[str]()
    for (topic, trust), count in store.listings.count_by(where, ("topic", "trust")).items():
        topics[topic] += 0 if trust in FOREIGN else count
    most = sorted((-count, topic) for topic, count in topics.items() if count)[:NAMED]
    return {"kinds": store.listings.count_kinds(where), "topics": {topic: -count for count, topic in most}}


def in_words(kinds: dict[str, int], topics: dict[str, int]) -> str:
    """Return the counts in a sentence."""
    if not kinds:
        return "Nothing is remembered here yet."
    text = f"{counted(sum(kinds.values()), 'memory')}: {_listed(kinds)}"
    return f"{text}; topics: {_listed(topics)}. {HOW}" if topics else f"{text}. {HOW}"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in list(counts.items())[:NAMED])


def first_of_all(store: Store, plan: Plan) -> tuple[list[Memory], bool]:
    """Return what stands in every brief, what is used most and the newest, at most `plan.k` and within the budget; and
    whether the budget left something out."""
    where, most = plan.where, plan.k
    scopes = () if where.narrows else where.scopes or ()
    standing = [num for _, num in store.listings.standing(scopes, at=plan.at, limit=most)] if scopes else []
    used = store.listings.most_used(where, limit=most)
    newest = [row.num for row in store.listings.lately(where, after=0, limit=most)]
    rows = list(dict.fromkeys(chain(standing, used, newest)))
    memories = [memory for memory in store.memories.by_rows(rows) if memory.trust not in FOREIGN][:most]
    if plan.budget_tokens is None:
        return memories, False
    worth = [1 / (place + 1) for place in range(len(memories))]
    kept = [memories[i] for i in fit(worth, list(map(cost_of, memories)), plan.budget_tokens)]
    return kept, len(kept) < len(memories)
