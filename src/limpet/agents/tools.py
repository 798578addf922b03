"""What an agent can ask of its memory: eight tools at most, each a few lines over one call of the API.

Their names, words and schemas are in `schemas.py`; arguments come here checked, with their defaults. Answers are small:
their tokens are paid for at every call.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..foreign_reads import taint
from ..model.clock import format_time
from ..model.errors import BadInput, LimpetError, NotFound
from ..model.ids import names_id
from ..rank.constants import CHARACTERS_PER_TOKEN, TOKENS_PER_ITEM
from ..recall.pack import tokens_of
from ..recall.relevance import NEAREST
from ..text.excerpt import excerpt, words_of
from ..text.turns import cut
from .arguments import checked
from .calls import caller
from .off import refuse_ignored
from .resources import GUARDED
from .schemas import ITEM
from .wording import for_tools, in_words

if TYPE_CHECKING:
    from ..api import Limpet
    from ..history.view import Node
    from ..recall.answer import Item, Recall, Trace
    from ..recall.facts import Fact
    from ..recall.sessions import SessionRecall
    from ..remember.write import Receipt
    from ..store.records import Action, SessionRow

T = TypeVar("T")
# A key, an id or a symbol: no word, and no words.
_NAME = re.compile(r"(?=\S*[\d._/])\S+\w")
# How long a brief may take; the first one of a process may have to load the embedding model.
PREPARE_DEADLINE_MS = 2_000.0
NOTHING_FITS = "Nothing that is remembered fits this message and its budget; recall asks for more."
CUT = " The first is an excerpt, as all of it takes more than the budget: memory://{id} has it."
# What narrows a question; a k that the agent named, too.
NARROWS = ("k", "kind", "topics", "since", "until", "known_at", "explain")
NOT_SHOWN = " {count} more with a `k`."
# Characters of what a write replaced that its answer repeats.
REPEATED = 200
# Results where none are named.
RESULTS = 8


class Exposures(Protocol):
    """Takes what was surfaced, and writes it down when nobody waits."""

    def add(self, via: str, items: list[tuple[str, int]], session: str) -> None: ...


class Tools:
    """The tools over one open store. `wrote` is called after every change."""

    def __init__(self, memory: Limpet, wrote: Callable[[], None], exposures: Exposures | None = None) -> None:
        self._memory = memory
        self._wrote = wrote
        self._exposures = exposures

    def remember(self, items: list[Any]) -> dict[str, Any]:
        """Each item fails alone."""
        if not items:
            raise BadInput("nothing to remember", hint="give at least one item")
        results: list[dict[str, Any]] = []
        good: list[tuple[int, dict[str, Any]]] = []
        for at, item in enumerate(items):
            try:
                given = checked(item, ITEM, of=f"items[{at}]")
                refuse_ignored(self._memory.path, " ".join(str(given.get(name, "")) for name in ("key", "content")))
            except LimpetError as error:
                results.append({"status": "rejected", "reason": in_words(error)})
            else:
                good.append((at, {name: value for name, value in given.items() if value not in ("", [])}))
                results.append({})
        told = [self._taint(one, str(one.get("content", ""))) for _, one in good]
        several = self._memory.remember_batch([one for _, one in good])
        for (at, _), receipt, why in zip(good, several, told, strict=True):
            results[at] = _because(_written(receipt), why)
        self._wrote()
        rejected = sum(one["status"] == "rejected" for one in results)
        return {"results": results} | ({"rejected": rejected} if rejected else {})

    def recall(self, *, query: str, budget_tokens: int, sessions: bool = False, **given: Any) -> dict[str, Any]:
        times = {name: given.pop(name, "") or None for name in ("since", "until", "known_at")}
        given |= {"budget_tokens": budget_tokens or None, **times}
        narrowed = any(given.get(name) for name in NARROWS)
        given.setdefault("k", RESULTS)
        if sessions:
            return self._recall_sessions(query, given, narrowed=narrowed)
        found = self._memory.recall(query, **given)
        several = _worth_tokens(found, found.items, narrowed)
        items = [
            _item(one) | {"also": list(found.also.get(one.id, ())), "why": _contributions(one.why)} for one in several
        ]
        cut = self._best_cut(query, given, items) if found.truncated else None
        if cut is not None:
            items = cut
        shown = {
            "missing": list(found.missing),
            "truncated": found.truncated,
            "asked_as_of": found.notes.get("time"),
            "explained": None if found.explained is None else found.explained.as_dict(),
        }
        said = _relevance(found, len(found.items) - len(several))
        answer = {**said, "items": [_full(one) for one in items], **_full(shown)}
        if cut is not None:
            answer["note"] += CUT.format(id=items[0]["id"])
        self._expose("recall", [(str(one["id"]), tokens_of(str(one))) for one in items])
        return answer

    def _best_cut(self, query: str, given: dict[str, Any], items: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """The results with an excerpt of the best one first, if it alone is too long for the budget."""
        budget: int = given["budget_tokens"]
        best = self._memory.recall(query, **given | {"budget_tokens": None, "k": 1, "explain": False}).items[:1]
        if not best or any(one["id"] == best[0].id for one in items):
            return None
        part, _ = excerpt(best[0].content, words_of(query), int(budget / 2 * CHARACTERS_PER_TOKEN))
        several = [_item(best[0]) | {"content": part}, *items]
        while len(several) > 1 and sum(tokens_of(str(one["content"])) + TOKENS_PER_ITEM for one in several) > budget:
            several.pop()
        return several

    def _recall_sessions(self, query: str, given: dict[str, Any], *, narrowed: bool) -> dict[str, Any]:
        found = self._memory.recall_sessions(query, **given)
        sessions = _worth_tokens(found, found.sessions, narrowed)
        items = [[_item(item) for item in one.items] for one in sessions]
        shown = {
            "without_session": found.without_session or None,
            "missing": list(found.missing),
            "truncated": found.truncated,
            "asked_as_of": found.notes.get("time"),
        }
        answer = {
            **_relevance(found, len(found.sessions) - len(sessions)),
            "sessions": [
                _full({"name": one.name, "title": one.title, "score": round(one.score, 3)})
                | {"items": [_full(item) for item in several]}
                | ({"why": {name: round(value, 2) for name, value in one.why.items()}} if one.why else {})
                for one, several in zip(sessions, items, strict=True)
            ],
            **_full(shown),
        }
        self._expose("recall", [(str(item["id"]), tokens_of(str(item))) for several in items for item in several])
        return answer

    def prepare(self, message: str, budget_tokens: int) -> dict[str, Any]:
        brief = self._memory.prepare(
            message, budget_tokens=budget_tokens, session=caller.get() or None, lexical_only=False,
            deadline_ms=PREPARE_DEADLINE_MS,
        )  # fmt: skip
        text = brief.text()
        ids = [item.id for section in brief.sections for item in section.items]
        self._expose("prepare", [(id, brief.tokens // len(ids)) for id in ids])
        return {"brief": text or (NOTHING_FITS if self._memory.count() else "Nothing is remembered here yet.")}

    def correct(
        self, *, id: str, action: str = "supersede", origin: str = "agent", content: str = "", why: str = "",
        valid_from: str = "",
    ) -> dict[str, Any]:  # fmt: skip
        said, replaced = {"origin": origin}, {}
        refuse_ignored(self._memory.path, content)
        told = self._taint(said, content) if content else ""
        origin = said["origin"]
        if action == "supersede":
            if not content:
                raise BadInput("to supersede, give the new content", hint="retract needs none")
            before = self._memory.get(id)
            receipt = self._memory.correct(id, content, why=why or None, valid_from=valid_from or None, origin=origin)
            if receipt.status == "created" and before.state == "active":
                replaced = {"replaced": cut(before.content, REPEATED)}
        elif content:
            raise BadInput(f"{action} takes no content", hint="supersede replaces a memory")
        elif action == "retract":
            if not why:
                raise BadInput("say why it is retracted", hint="give why")
            receipt = self._memory.retract(id, why, origin=origin)
        elif action == "reach":
            # What an agent was asked to do, it may tick off; a page or a tool's output may not.
            receipt = self._memory.reach(id, origin=None if origin == "agent" else origin)
        elif action == "archive":
            receipt = self._memory.archive(id, origin=origin)
        elif origin != "user":
            raise BadInput(
                f"to {action} what is up for review is the user's", hint="ask the user, then say origin user"
            )
        else:
            receipt = self._memory.accept(id) if action == "accept" else self._memory.reject(id)
        self._wrote()
        return _because(_written(receipt), told) | replaced

    def feedback(self, ids: list[str], verdict: str) -> dict[str, Any]:
        """Each id fails alone."""
        if not ids:
            raise BadInput("feedback on nothing", hint="give the ids of what was recalled")
        rejected: list[dict[str, Any]] = []
        for id in ids:
            try:
                self._memory.feedback(id, verdict)
            except LimpetError as error:
                if len(ids) == 1:
                    raise
                rejected.append({"id": id, "reason": in_words(error)})
        return {"noted": len(ids) - len(rejected)} | _full({"rejected": rejected})

    def fact(
        self,
        *,
        key: str,
        origin: str = "agent",
        value: str | float | bool | None = None,
        end: bool = False,
        history: bool = False,
        **times: str,
    ) -> dict[str, Any]:
        valid_from, as_of, known_at = (times.get(name) or None for name in ("valid_from", "as_of", "known_at"))
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(f"{value} is no value", hint="a number, text, true or false")
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # 7.0 is written 7 by the next caller
        text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
        if value is not None and not text.strip():
            raise BadInput("the value is empty", hint="end: true ends what the key has; leave value out to read it")
        if text and (end or history or as_of or known_at):
            raise BadInput("value sets the fact; it goes with valid_from and origin only")
        told, before = "", None
        if text:
            refuse_ignored(self._memory.path, f"{key} {text}")
            said = {"origin": origin}
            told = self._taint(said, f"{key} {text}") or self._taint(said, text)
            origin = said["origin"]
            with suppress(NotFound):
                before = self._memory.fact(key)
            receipt = self._memory.set_fact(key, text, valid_from=valid_from, origin=origin)
        elif end:
            receipt = self._memory.end_fact(key, at=as_of, origin=origin)
        else:
            found = (
                self._memory.fact_history(key, known_at=known_at)
                if history
                else [self._memory.fact(key, as_of=as_of, known_at=known_at)]
            )
            return {"values": [_value(one) for one in found]}
        self._wrote()
        ended = before is not None and before.id != receipt.id and self._memory.get(before.id).valid_to is not None
        return _because(_written(receipt), told) | (
            {"replaced": cut(before.value, REPEATED)} if before and ended else {}
        )

    def explain(self, *, what: str, depth: int, limit: int, about: str = "", **given: str) -> dict[str, Any]:
        times: dict[str, Any] = {name: given.get(name) or None for name in ("as_of", "known_at")}
        if what == "contradictions":
            return _brief(self._memory.graph.contradictions(limit=limit, **times).as_dict())
        if what == "review":
            return {"review": [_guarded(_brief(one.as_dict())) for one in self._memory.review(limit=limit)]}
        if not about.strip():
            raise BadInput(f"{what} needs something to explain", hint="about: an id, a key or words")
        if what in ("audit", "timeline"):
            return _brief(getattr(self._memory.graph, what)(about, limit=limit, **times).as_dict())
        verb = self._memory.why if what == "why" else self._memory.impact
        return _brief(verb(self._one(about, times), depth=depth, limit=limit, **times).as_dict())

    def session(self, *, action: str, limit: int, name: str = "", title: str = "", summary: str = "") -> dict[str, Any]:
        if action == "list":
            return {"sessions": [_run(one) for one in self._memory.sessions(limit=limit)]}
        if action == "journal":
            lines = self._memory.actions(session=name or None, limit=limit)
            return {"journal": [_line(one) for one in lines]}
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

    def _taint(self, given: dict[str, Any], text: str) -> str:
        return taint(self._memory.path, given, text)

    def _expose(self, via: str, items: list[tuple[str, int]]) -> None:
        if self._exposures is not None:
            self._exposures.add(via, items, caller.get())

    def _one(self, about: str, times: dict[str, Any]) -> str:
        """The id of the memory that is meant: by an id, a key, or words."""
        found = self._memory.audit(about, limit=1, **times).beliefs
        if not found or (_NAME.fullmatch(about) and not _names(about, found[0].node)):
            raise BadInput(f"nothing is known about {about!r}", hint="recall finds memories and their ids")
        return found[0].node.id


def _guarded(shown: dict[str, Any]) -> dict[str, Any]:
    """What waits for review, without the words that wait because a model might obey them."""
    if shown["kind"] == "quarantine":
        shown["memory"] |= {"content": GUARDED}
    return shown


def _names(about: str, node: Node) -> bool:
    """Whether a key, an id or a symbol names a memory, or stands in it: else the nearest is another thing."""
    said = " ".join((node.id, node.content, node.key or "")).casefold()
    return about.casefold() in said or names_id(about, node.id)


def _because(written: dict[str, Any], why: str) -> dict[str, Any]:
    return written | {"reason": "; ".join(filter(None, (why, written.get("reason"))))} if why else written


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


def _relevance(found: Recall | SessionRecall, left_out: int) -> dict[str, Any]:
    """Whether anything answers the question; in a sentence too, for what is only nearest looks like an answer."""
    return {"relevant": found.relevant, "note": found.note + (NOT_SHOWN.format(count=left_out) if left_out else "")}


def _worth_tokens(found: Recall | SessionRecall, several: Sequence[T], narrowed: bool) -> Sequence[T]:
    """All of what was found where it answers, else the nearest alone."""
    return several if found.relevant or narrowed else several[:NEAREST]


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
    shown = _full({name: value for name, value in receipt.as_dict().items() if name != "event"})
    return shown | ({"reason": for_tools(shown["reason"])} if "reason" in shown else {})


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


def _line(action: Action) -> dict[str, Any]:
    return {"at": format_time(action.at), "session": action.session, "kind": action.kind, "what": action.what}


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
