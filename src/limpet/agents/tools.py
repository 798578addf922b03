"""What an agent can ask of its memory: eight tools at most, each a few lines over one call of the API.

Arguments and answers are small: their schema is paid for in every session, their tokens at every call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import BaseModel, Field

from ..model.clock import format_time
from ..model.errors import BadInput
from ..model.memory import Kind
from ..rank.constants import BRIEF_TOKENS
from ..recall.answer import Recall
from ..recall.token_budget import tokens_of
from .calls import caller

if TYPE_CHECKING:
    from ..api import Limpet
    from ..rank.trace import Trace
    from ..recall.answer import Item
    from ..recall.facts import Fact
    from ..recall.sessions import SessionRecall
    from ..remember.write import Receipt
    from ..store.records import SessionRow

# How long a brief may take; the first one of a process may have to load the embedding model.
PREPARE_DEADLINE_MS = 2_000.0
# Who says so; an import has a command of its own.
Said = Literal["user", "agent", "tool", "web"]
IRRELEVANT = "Nothing here answers this well; the nearest are shown."


class NewMemory(BaseModel):
    content: str
    kind: Kind = "fact"
    topics: list[str] = []
    key: Annotated[str, Field(description="SUBJECT.ATTRIBUTE, e.g. user.city")] = ""
    origin: Said = "agent"
    source: Annotated[str, Field(description="file:line or URL")] = ""
    valid_from: Annotated[str, Field(description="when it became true, if not now")] = ""
    because: Annotated[list[str], Field(description="ids it rests on")] = []
    session: str = ""


class Exposures(Protocol):
    """Takes what was surfaced, and writes it down when nobody waits."""

    def add(self, via: str, items: list[tuple[str, int]], session: str) -> None: ...


class Tools:
    """The tools over one open store. `wrote` is called after every change."""

    def __init__(self, memory: Limpet, wrote: Callable[[], None], exposures: Exposures | None = None) -> None:
        self._memory = memory
        self._wrote = wrote
        self._exposures = exposures

    def remember(self, items: list[NewMemory]) -> dict[str, Any]:
        """Store memories. One statement an item, understandable on its own."""
        if not items:
            raise BadInput("nothing to remember", hint="give at least one item")
        receipts = self._memory.remember_batch([_without_defaults(item) for item in items])
        self._wrote()
        return {"results": [_written(receipt) for receipt in receipts]}

    def recall(
        self,
        *,
        query: Annotated[str, Field(description="question or topic, with exact names")],
        k: Annotated[int, Field(ge=1, le=100)] = 8,
        kinds: list[str] = [],  # noqa: B006  (a schema default; never changed)
        topics: list[str] = [],  # noqa: B006
        since: str = "",
        until: str = "",
        known_at: Annotated[str, Field(description="as believed at this time")] = "",
        budget_tokens: Annotated[int, Field(ge=0, description="0: no limit")] = 2000,
        explain: Annotated[bool, Field(description="also why, and what was left out")] = False,
        sessions: Annotated[bool, Field(description="in place of memories")] = False,
    ) -> dict[str, Any]:
        """Find memories by meaning and by words, best first. Times: ISO 8601 or "3 days ago"."""
        given: dict[str, Any] = {
            "k": k,
            "kinds": kinds,
            "topics": topics,
            "since": since or None,
            "until": until or None,
            "known_at": known_at or None,
            "budget_tokens": budget_tokens or None,
            "explain": explain,
        }
        if sessions:
            return self._recall_sessions(query, given)
        found = self._memory.recall(query, **given)
        items = [
            _item(one) | {"also": list(found.also.get(one.id, ())), "why": _contributions(one.why)}
            for one in found.items
        ]
        shown = {
            "missing": list(found.missing),
            "truncated": found.truncated,
            "asked_as_of": found.notes.get("time"),
            "explained": None if found.explained is None else found.explained.as_dict(),
        }
        answer = {"items": [_full(one) for one in items], **_relevance(found), **_full(shown)}
        self._expose("recall", [(str(one["id"]), tokens_of(str(one))) for one in items])
        return answer

    def _recall_sessions(self, query: str, given: dict[str, Any]) -> dict[str, Any]:
        found = self._memory.recall_sessions(query, **given)
        items = [[_item(item) for item in one.items] for one in found.sessions]
        shown = {
            "without_session": found.without_session or None,
            "missing": list(found.missing),
            "truncated": found.truncated,
            "asked_as_of": found.notes.get("time"),
        }
        answer = {
            "sessions": [
                _full({"name": one.name, "title": one.title, "score": round(one.score, 3)})
                | {"items": [_full(item) for item in several]}
                | ({"why": {name: round(value, 2) for name, value in one.why.items()}} if one.why else {})
                for one, several in zip(found.sessions, items, strict=True)
            ],
            **_relevance(found),
            **_full(shown),
        }
        self._expose("recall", [(str(item["id"]), tokens_of(str(item))) for several in items for item in several])
        return answer

    def prepare(self, message: str, budget_tokens: Annotated[int, Field(ge=1)] = BRIEF_TOKENS) -> str:
        """Brief yourself before a task: rules, facts, lessons, goals, recent work, conflicts."""
        brief = self._memory.prepare(
            message, budget_tokens=budget_tokens, lexical_only=False, deadline_ms=PREPARE_DEADLINE_MS
        )
        text = brief.text()
        ids = [item.id for section in brief.sections for item in section.items]
        self._expose("prepare", [(id, brief.tokens // len(ids)) for id in ids])
        return text or "Nothing is remembered here yet."

    def correct(
        self,
        *,
        id: str,
        action: Literal["supersede", "retract", "archive", "reach"] = "supersede",
        content: Annotated[str, Field(description="the new statement, to supersede")] = "",
        why: str = "",
        valid_from: Annotated[str, Field(description="when the new one became true")] = "",
        origin: Said = "agent",
    ) -> dict[str, Any]:
        """Change a belief: supersede (new content), retract (was wrong), archive; reach a goal. History is kept."""
        if action == "supersede":
            if not content:
                raise BadInput("to supersede, give the new content", hint="retract needs none")
            receipt = self._memory.correct(id, content, why=why or None, valid_from=valid_from or None, origin=origin)
        elif content:
            raise BadInput(f"{action} takes no content", hint="supersede replaces a memory")
        elif action == "retract":
            if not why:
                raise BadInput("say why it is retracted", hint="give why")
            receipt = self._memory.retract(id, why, origin=origin)
        elif action == "reach":
            # What an agent was asked to do, it may tick off; a page or a tool's output may not.
            receipt = self._memory.reach(id, origin=None if origin == "agent" else origin)
        else:
            receipt = self._memory.archive(id, origin=origin)
        self._wrote()
        return _written(receipt)

    def feedback(self, ids: list[str], verdict: Literal["useful", "not_useful", "wrong"]) -> dict[str, Any]:
        """Say whether recalled memories helped; it steers later ranking."""
        for id in ids:
            self._memory.feedback(id, verdict)
        return {"noted": len(ids)}

    def fact(
        self,
        *,
        key: Annotated[str, Field(description="SUBJECT.ATTRIBUTE")],
        value: Annotated[str, Field(description="sets it")] = "",
        end: Annotated[bool, Field(description="no value holds any more")] = False,
        history: bool = False,
        valid_from: str = "",
        as_of: str = "",
        known_at: str = "",
        origin: Said = "agent",
    ) -> dict[str, Any]:
        """A keyed fact with one current value: read, set, end, or all it ever was."""
        if value and (end or history or as_of or known_at):
            raise BadInput("value sets the fact; it goes with valid_from and origin only")
        if value:
            receipt = self._memory.set_fact(key, value, valid_from=valid_from or None, origin=origin)
        elif end:
            receipt = self._memory.end_fact(key, at=as_of or None, origin=origin)
        else:
            known = known_at or None
            found = (
                self._memory.fact_history(key, known_at=known)
                if history
                else [self._memory.fact(key, as_of=as_of or None, known_at=known)]
            )
            return {"values": [_value(one) for one in found]}
        self._wrote()
        return _written(receipt)

    def explain(
        self,
        *,
        what: Literal["why", "impact", "timeline", "contradictions", "audit"],
        about: Annotated[str, Field(description="id, key or words; contradictions need none")] = "",
        depth: Annotated[int, Field(ge=1, le=64)] = 5,
        limit: Annotated[int, Field(ge=1, le=200)] = 10,
        as_of: str = "",
        known_at: str = "",
    ) -> dict[str, Any]:
        """Why something is believed, what rests on it, how it changed, what conflicts, or all of it (audit)."""
        times = {"as_of": as_of or None, "known_at": known_at or None}
        if what == "contradictions":
            return _brief(self._memory.contradictions(limit=limit, **times).as_dict())
        if not about.strip():
            raise BadInput(f"{what} needs something to explain", hint="about: an id, a key or words")
        if what == "audit":
            return _brief(self._memory.audit(about, limit=limit, **times).as_dict())
        if what == "timeline":
            return _brief(self._memory.timeline(about, limit=limit, **times).as_dict())
        id = self._one(about, times)
        verb = self._memory.why if what == "why" else self._memory.impact
        return _brief(verb(id, depth=depth, limit=limit, **times).as_dict())

    def session(
        self,
        *,
        action: Literal["start", "end", "list", "show", "compress"],
        name: str = "",
        title: str = "",
        summary: Annotated[str, Field(description="end, compress: what happened")] = "",
        limit: Annotated[int, Field(ge=1, le=200)] = 20,
    ) -> dict[str, Any]:
        """Runs of an agent: start (or resume), end, list, show, sum up in an episode."""
        if action == "list":
            return {"sessions": [_run(one) for one in self._memory.sessions(limit=limit)]}
        if action == "start":
            run = self._memory.session_start(name or None, title=title or None)
            self._wrote()
            return _run(run)
        if not name:
            raise BadInput(f"to {action} a session, give its name", hint="action list shows them")
        if action == "show":
            memories = self._memory.session_memories(name)
            shown = [{"id": one.id, "kind": one.kind, "content": one.content} for one in memories[-limit:]]
            return _run(self._memory.session(name)) | {"latest": shown}
        verb = self._memory.session_end if action == "end" else self._memory.compress
        receipt = verb(name, summary=summary or None)
        self._wrote()
        return _written(receipt)

    def _expose(self, via: str, items: list[tuple[str, int]]) -> None:
        if self._exposures is not None:
            self._exposures.add(via, items, caller.get())

    def _one(self, about: str, times: dict[str, Any]) -> str:
        """The id of the memory that is meant: by an id, a key, or words."""
        found = self._memory.audit(about, limit=1, **times).beliefs
        if not found:
            raise BadInput(f"nothing is known about {about!r}", hint="recall finds memories and their ids")
        return found[0].node.id


def _without_defaults(item: NewMemory) -> dict[str, Any]:
    return {name: value for name, value in item.model_dump().items() if name == "content" or value not in ("", [])}


def _item(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "kind": item.kind,
        "content": item.content,
        "score": round(item.score, 3),
        "confidence": round(item.confidence, 2),
        "confidence_word": item.confidence_word,
        "date": (format_time(item.valid_from) or "")[:10],
        "topics": list(item.topics),
        "key": item.key,
        "origin": item.origin,
    }


def _relevance(found: Recall | SessionRecall) -> dict[str, Any]:
    """Whether anything answers the question; in words too where nothing does, for what is shown looks like one."""
    if found.relevant:
        return {"relevant": True}
    shown = found.items if isinstance(found, Recall) else found.sessions
    return {"relevant": False, "note": IRRELEVANT if shown else "Nothing was found."}


def _contributions(why: Trace | None) -> dict[str, float]:
    """What each signal added to a score, the most first; without those that added nothing."""
    if why is None:
        return {}
    parts = {name: round(one.contribution, 2) for name, one in why.signals.items() if abs(one.contribution) >= 0.005}
    return dict(sorted(parts.items(), key=lambda pair: -pair[1]))


def _full(shown: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty: tokens are the agent's."""
    # 0 equals False and is no empty thing.
    return {
        name: value
        for name, value in shown.items()
        if value is not None and value is not False and value not in ("", [], {})
    }


def _written(receipt: Receipt) -> dict[str, Any]:
    return _full({name: value for name, value in receipt.as_dict().items() if name != "event"})


def _value(fact: Fact) -> dict[str, Any]:
    shown = fact.as_dict()
    return _full(
        {
            name: shown[name]
            for name in ("key", "value", "id", "valid_from", "valid_to", "confidence", "confidence_word")
        }
    )


def _run(session: SessionRow) -> dict[str, Any]:
    times = {"started_at": format_time(session.started_at), "ended_at": format_time(session.ended_at)}
    return _full({"name": session.name, "title": session.title, **times}) | {"memories": session.memories}


# What an explanation carries for programs and an agent has no use for.
_LEFT_OUT = frozenset({"scope", "importance", "position", "session", "recorded_at", "event", "weight", "depths"})


def _brief(shown: dict[str, Any]) -> dict[str, Any]:
    """An explanation without what is empty and what an agent has no use for."""
    return _full({name: _part(value) for name, value in shown.items() if name not in _LEFT_OUT})


def _part(value: Any) -> Any:
    if isinstance(value, list):
        return [_part(one) for one in value]
    if isinstance(value, dict):
        return _brief(value)
    return round(value, 2) if isinstance(value, float) else value
