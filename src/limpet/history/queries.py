"""Every query over the typed graph as one method of `History`, its limits checked here once. Read first: `view.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from .. import registry
from ..model.dataclass import replace
from ..model.edges import TEMPORAL, check_edge_type
from ..model.errors import AmbiguousId, BadInput, NotFound
from ..model.memory import EDGE_TYPES, Memory, check_list
from ..model.times import parse_time
from ..recall.lookup import code_marks
from . import evidence, walk, whole
from .view import View

if TYPE_CHECKING:
    from ..context import Context, Time

# How far and how much a query looks when nobody says, and at most.
DEPTH, LIMIT = 5, 200
MOST = {"depth": 64, "limit": 10_000}
# How far a context goes by default.
NEAR_DEPTH = 2


class History:
    """Queries of the graph from some scopes. `now`: microseconds, asked at each call. Thread-safe as its store is.

    `as_of`: when it was true (default: `known_at`, else now); `known_at`: as the store knew it then (default: now);
    each a time as `parse_time` reads it, or None. `everything`: also what was superseded, retracted, purged, or not
    yet true. Every method reads one state of the store and raises BadInput for arguments out of range, NotFound and
    AmbiguousId for ids.
    """

    def __init__(self, context: Context, recall: evidence.Recaller) -> None:
        self._context = context
        self._recall = recall

    # -- what rests on what

    def why(
        self, id: str, *, depth: int = DEPTH, limit: int = LIMIT, everything: bool = False,
        as_of: Time = None, known_at: Time = None,
    ) -> walk.Why:  # fmt: skip
        """Return the reasons of a memory, back to the facts."""
        with self._at(as_of, known_at, depth=depth, limit=limit) as view:
            return walk.why(view, id, depth=depth, limit=limit, everything=everything)

    def impact(
        self, id: str, *, depth: int = DEPTH, limit: int = LIMIT, as_of: Time = None, known_at: Time = None
    ) -> walk.Impact:
        """Return the memories that rest on this one, decisions first, each with the reasons it would have left.

        And what rests on what it replaced: that may have to change with it.
        """
        with self._at(as_of, known_at, depth=depth, limit=limit) as view:
            result = walk.impact(view, id, depth=depth, limit=limit)
            replaced = walk.chain(view, result.memory.id, limit=limit).before
            return replace(result, rested_before=walk.rested_before(view, result, replaced, limit=limit))

    def chain(self, id: str, *, limit: int = LIMIT, as_of: Time = None, known_at: Time = None) -> walk.Chain:
        """Return the corrections that led to a memory, and those that replaced it."""
        with self._at(as_of, known_at, limit=limit) as view:
            return walk.chain(view, id, limit=limit)

    def path(
        self, a: str, b: str, *, types: Iterable[str] = (), depth: int = 8, as_of: Time = None, known_at: Time = None
    ) -> walk.GraphPath:
        """Return the shortest path between two memories along links of some types (default: all), either way."""
        chosen = _types(types)
        with self._at(as_of, known_at, depth=depth) as view:
            return walk.path(view, a, b, types=chosen, depth=depth)

    def context(
        self, ids: Iterable[str], *, types: Iterable[str] = (), depth: int = NEAR_DEPTH, limit: int = LIMIT,
        everything: bool = False, as_of: Time = None, known_at: Time = None,
    ) -> walk.Subgraph:  # fmt: skip
        """Return the surroundings of some memories, and all links among them."""
        given, chosen = check_list("ids", ids), _types(types)
        with self._at(as_of, known_at, depth=depth, limit=limit) as view:
            return walk.context(view, given, types=chosen, depth=depth, limit=limit, everything=everything)

    # -- time

    def timeline(
        self, what: str | None = None, *, limit: int = 50, as_of: Time = None, known_at: Time = None
    ) -> evidence.Timeline:
        """Return a timeline: around a memory (an id), of a key's values, of memories about a text, or of the newest."""
        with self._at(as_of, known_at, limit=limit) as view:
            if what is None or not what.strip():
                where = replace(view.where(), states=("active", "archived", "retracted"))
                page = self._context.store.listings.page(where, sort="created", limit=limit, cursor=None)
                return evidence.timeline_of(view, "", "all", page.memories, limit=limit)
            if _named(view, what) is not None:
                return evidence.around(view, what, limit=limit)
            if values := view.store.graph.key_history(what, view.where()):
                return evidence.timeline_of(view, what, "key", values, limit=limit)
        # Recall may write (it embeds what waits): outside of the snapshot.
        matches = evidence.near(view, self._recall, what, limit)
        return evidence.timeline_of(view, what, "text", [memory for memory, _ in matches], limit=limit)

    def diff(self, start: Time, end: Time = None, *, as_of: Time = None, limit: int = LIMIT) -> evidence.Diff:
        """Return what the store came to believe and stopped believing between two moments of its knowledge."""
        now = self._context.now()
        if start is None:
            raise BadInput("diff needs the moment to begin with", hint='such as "3 days ago"')
        first, last = parse_time(start, now=now), now if end is None else parse_time(end, now=now)
        held = None if as_of is None else parse_time(as_of, now=now)
        with self._at(None, None, limit=limit) as view:
            return evidence.diff(replace(view, known_at=last), first, last, as_of=held, limit=limit)

    # -- the whole

    def contradictions(
        self, *, everything: bool = False, limit: int = LIMIT, as_of: Time = None, known_at: Time = None
    ) -> whole.Contradictions:
        """Return pairs that cannot both hold. `everything`: also those of which one was given up."""
        with self._at(as_of, known_at, limit=limit) as view:
            return whole.contradictions(view, limit=limit, everything=everything)

    def gaps(
        self, *, kind: str | Iterable[str] = (), limit: int = 20, as_of: Time = None, known_at: Time = None
    ) -> whole.Gaps:
        """Return weak places among what is believed, the severest first; `limit` is per kind of gap."""
        chosen = (kind,) if isinstance(kind, str) else check_list("kind", kind)
        with self._at(as_of, known_at, limit=limit) as view:
            marks = partial(code_marks, self._context, asks=None)
            return whole.gaps(view, kinds=chosen, limit=limit, marks=marks if self._context.project else None)

    def centrality(
        self, *, types: Iterable[str] = (), limit: int = 20, as_of: Time = None, known_at: Time = None
    ) -> list[whole.Central]:
        """Return the most central memories."""
        chosen = [name for name in _types(types) if name != TEMPORAL]
        with self._at(as_of, known_at, limit=limit) as view:
            return whole.centrality(view, types=chosen, limit=limit)

    def consolidate(self, *, limit: int = 50, as_of: Time = None, known_at: Time = None) -> whole.Consolidation:
        """Propose what could be merged, summarised or compressed; `limit` is per action. Changes nothing."""
        with self._at(as_of, known_at, limit=limit) as view:
            return whole.consolidate(view, limit=limit)

    # -- what there is to ask about

    def entities(self, *, limit: int = LIMIT, as_of: Time = None) -> list[whole.EntityCount]:
        """Return the things that the texts of what is held name, the most named first. Reads them all."""
        with self._at(as_of, None, limit=limit) as view:
            return whole.entities_named(view, limit=limit)

    # -- claims

    def audit(self, about: str, *, limit: int = 10, as_of: Time = None, known_at: Time = None) -> evidence.Audit:
        """Return the beliefs about a memory (an id), a key, a file of the checkout or a name in its code, or a text;
        their sources, and what depends on them. About code also turns, and what was given up."""
        if not about.strip():
            raise BadInput("audit needs something to ask about", hint="an id, a key such as user.city, or words")
        by, memories = "text", list[Memory]()
        with self._at(as_of, known_at, limit=limit) as view:
            if (named := _named(view, about)) is not None:
                by, memories = "id", [named]
            elif every := view.store.graph.key_history(about, view.where()):
                held = [memory for memory in every if view.standing(memory) == "held"]
                by, memories = "key", (held or every[-1:])[:limit]
            elif (near := registry.call("about_code", self._context, about, view.where())) is not None:
                by, memories = "code", near[:limit]
        if not memories and by != "code":
            by, memories = "text", [memory for memory, _ in evidence.near(view, self._recall, about, limit)]
        with self._context.store.snapshot():
            return evidence.audit(view, about, by, memories)

    def ground(self, claim: str, *, limit: int = 20, as_of: Time = None, known_at: Time = None) -> evidence.Grounding:
        """Return beliefs that support a claim or oppose it, and what is near when none does."""
        view = self._view(as_of, known_at, limit=limit)
        return evidence.ground(view, self._recall, claim, limit=limit)

    def revise(
        self, claim: str, *, against: Iterable[str] = (), limit: int = 20, as_of: Time = None, known_at: Time = None
    ) -> evidence.Revision:
        """Return the beliefs that would have to give if a claim were true, and all that rests on them. Only reads."""
        view, given = self._view(as_of, known_at, limit=limit), check_list("against", against)
        return evidence.revise(view, self._recall, claim, against=given, depth=DEPTH, limit=limit)

    def _view(self, as_of: Time, known_at: Time, **counts: int) -> View:
        for name, value in counts.items():
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST[name]:
                raise BadInput(f"{name} must be from 1 to {MOST[name]}, not {value!r}")
        context, now = self._context, self._context.now()
        known = None if known_at is None else parse_time(known_at, now=now)
        # Ages and confidences are those of the moment of knowledge.
        at = now if known is None else known
        held = at if as_of is None else parse_time(as_of, now=now)
        return View(store=context.store, scopes=context.scopes, as_of=held, known_at=known, now=at)

    @contextmanager
    def _at(self, as_of: Time, known_at: Time, **counts: int) -> Iterator[View]:
        """Open a view of one state of the store."""
        view = self._view(as_of, known_at, **counts)
        with self._context.store.snapshot():
            yield view


def _types(types: Iterable[str]) -> tuple[str, ...]:
    """Return checked edge types; all for none."""
    return tuple(dict.fromkeys(check_edge_type(type) for type in check_list("types", types))) or EDGE_TYPES


def _named(view: View, text: str) -> Memory | None:
    """Return the memory that an id or its beginning names; a word may look like one too. Raises AmbiguousId."""
    try:
        return view.find(text)
    except AmbiguousId:
        raise
    except (BadInput, NotFound):
        return None
