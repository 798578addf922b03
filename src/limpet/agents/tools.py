"""The eight tools of an agent, each in one place: its words, the schema of its arguments, and the call of the API.

Every session pays for the listed text: all of it is under 6,000 characters. Answers are small for the same reason.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import registry
from ..model.clock import format_time
from ..model.errors import BadInput, LimpetError
from ..model.ids import names_id
from ..model.memory import FOREIGN, KINDS, STORED_TYPES, is_below
from ..pause import is_ignored, state_here
from ..rank.constants import BRIEF_TOKENS, CHARACTERS_PER_TOKEN, TOKENS_PER_ITEM
from ..recall.pack import tokens_of
from ..recall.relevance import NEAREST
from ..text.excerpt import excerpt, words_of
from ..work.service import may_replace
from .arguments import Schema, checked, fact_value, flag, for_tools, in_words, listed, number, takes, text, texts

if TYPE_CHECKING:
    from ..api import Limpet
    from ..recall.answer import Item
    from ..remember.write import Receipt
    from ..store.records import SessionRow

# Milliseconds that a brief may take; the first one of a process may have to load the embedding model.
PREPARE_DEADLINE_MS = 2_000.0
NOTHING_FITS = "Nothing that is remembered fits this message and its budget; recall asks for more."
CUT = " The first is an excerpt, as all of it takes more than the budget: memory://{id} has it."
# Shown instead of a text in quarantine: a model might obey it.
GUARDED = "(withheld: it waits until your user has looked, with `limpet review`)"
# The session of the current call: as its client's hooks name it, else of this process, else "".
caller: ContextVar[str] = ContextVar("caller", default="")
THIS_PROCESS = f"mcp-{uuid.uuid4().hex[:12]}"

TOOLS: list[Schema] = []  # as a client lists them
TAKES: dict[str, Schema] = {}  # their arguments, with limits and defaults

READS = {"readOnlyHint": True}
# A correction loses nothing either: purge is not offered.
WRITES = {"destructiveHint": False, "openWorldHint": False}

# Who says so; an import has a command of its own.
_ORIGIN = text(one_of=("user", "agent", "tool", "web"), default="agent")
_ACTIONS = ("supersede", "retract", "archive", "reach", "merge", "link", "accept", "reject")
_EXPLAINED = ("why", "impact", "timeline", "contradictions", "audit", "review", "topic", "index")
ITEM = takes(
    "content",
    content=text(),
    kind=text(one_of=KINDS, default="fact"),
    topics=texts(),
    key=text("SUBJECT.ATTRIBUTE: user.city"),
    origin=_ORIGIN,
    source=text("file:line or URL"),
    valid_from=text(),
    because=texts("ids it rests on"),
    session=text(),
)


def tool(
    about: str, hints: dict[str, bool], given: Schema, *required: str, sought: str = "", **answers: str | Schema
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put a method into the table. `given`: the schema of its arguments; `answers`: the fields that carry its answer.

    An empty field is left out of an answer, so few are `required`. `sought`: words by which Claude Code's search finds
    a tool that it also shows its model without a search.
    """
    properties = {name: {"type": schema} if isinstance(schema, str) else schema for name, schema in answers.items()}
    answer = {"type": "object", "properties": properties} | ({"required": list(required)} if required else {})

    def add(method: Callable[..., Any]) -> Callable[..., Any]:
        name = method.__name__
        TAKES[name] = given
        meta = {"_meta": {"anthropic/alwaysLoad": True, "anthropic/searchHint": sought}} if sought else {}
        TOOLS.append(
            {"name": name, "description": about, "inputSchema": listed(given), "outputSchema": answer,
             "annotations": hints, **meta}
        )  # fmt: skip
        return method

    return add


# Takes what was surfaced (the tool, ids and their tokens, the session), and writes it down when nobody waits.
Expose = Callable[[str, list[tuple[str, int]], str], object]


class Tools:
    """The tools over one open store. Arguments come checked, with their defaults; `wrote` is called after a change."""

    def __init__(self, memory: Limpet, wrote: Callable[[], object], expose: Expose = lambda *_: None) -> None:
        self._memory = memory
        self._wrote = wrote
        self._expose = expose
        self.page: Callable[[str], str]  # the text of a resource, `index` or `topic/NAME`; the service sets it

    @tool(
        "Store memories, one statement an item, clear alone.", WRITES,
        takes("items", items={"type": "array", "items": ITEM}),
        "results", results="array", rejected="integer", sought="store a memory",
    )  # fmt: skip
    def remember(self, items: list[Any]) -> dict[str, Any]:
        """Store items, each of which fails alone."""
        if not items:
            raise BadInput("nothing to remember", hint="give at least one item")
        results: list[dict[str, Any]] = [{} for _ in items]
        good: dict[int, dict[str, Any]] = {}
        for at, item in enumerate(items):
            try:
                given = checked(item, ITEM, of=f"items[{at}]")
                self._refuse_ignored(str(given.get("key", "")), given["content"])
                good[at] = {name: value for name, value in given.items() if value not in ("", [])}
            except LimpetError as error:
                results[at] = {"status": "rejected", "reason": in_words(error)}
        reasons = [self._taint(given, given.get("content", "")) for given in good.values()]
        written = self._memory.remember_batch(list(good.values()))
        for at, receipt, reason in zip(good, written, reasons, strict=True):
            results[at] = self._tainted(receipt, reason)
            if receipt.status == "created" and len(good) == 1:  # who stores many does not wait for each
                older = may_replace(self._memory._context, receipt.id)
                results[at] |= {"may_replace": older} if older else {}
        self._wrote()
        rejected = sum(result["status"] == "rejected" for result in results)
        return {"results": results} | ({"rejected": rejected} if rejected else {})

    @tool(
        "A brief for a task: rules, facts, lessons, goals, recent work, conflicts.", READS,
        takes("message", message=text(), budget_tokens=number(BRIEF_TOKENS, 100_000)),
        "brief", brief="string",
    )  # fmt: skip
    def prepare(self, message: str, budget_tokens: int) -> dict[str, Any]:
        brief = self._memory.prepare(
            message, budget_tokens=budget_tokens, session=caller.get() or None, lexical_only=False,
            deadline_ms=PREPARE_DEADLINE_MS,
        )  # fmt: skip
        registry.call("recalled", self._memory._context, caller.get() or None, brief.items)
        ids = [item.id for section in brief.sections for item in section.items]
        self._expose("prepare", [(id, brief.tokens // len(ids)) for id in ids], caller.get())
        empty = NOTHING_FITS if self._memory.count() else "Nothing is remembered here yet."
        return {"brief": brief.text() or empty}

    @tool(
        'Find memories by meaning and words, best first. Times: ISO or "3 days ago".', READS,
        takes(
            "query", query=text("a question, exact names"),
            # Without a default: one that the agent names counts as a wish.
            k={"type": "integer", "minimum": 1, "maximum": 100}, kind=texts(), topics=texts(), since=text(),
            until=text(), known_at=text(), budget_tokens=number(2_000, 100_000, least=0),
            explain=flag(), sessions=flag("not memories"), **{"for": text(one_of=("error", "how"))},
        ),
        "relevant", relevant="boolean", note="string", items="array", sessions="array", sought="find a memory",
    )  # fmt: skip
    def recall(self, *, query: str, budget_tokens: int, sessions: bool = False, **given: Any) -> dict[str, Any]:
        narrowed = any(given.get(name) for name in given)
        given |= {name: given.get(name) or None for name in ("since", "until", "known_at")}
        given["budget_tokens"] = budget_tokens or None
        form, verb = given.pop("for", ""), self._memory.recall_sessions if sessions else self._memory.recall
        if form:
            sessions, verb = False, partial(registry.part("features.happened").recall_for, self._memory._context, form)
        results: Any = verb(query, **given)
        if form == "how":
            return {"relevant": bool(results["commands"]), **results}
        # If nothing answers, only the nearest are worth their tokens.
        most, note = len(results) if results.relevant or narrowed else NEAREST, results.note
        more: dict[str, Any] = {"missing": list(results.missing), "truncated": results.truncated}
        if sessions:
            shown: dict[str, Any] = {
                "sessions": [
                    _brief({"name": session.name, "title": session.title, "score": session.score, "why": session.why})
                    | {"items": list(map(_item, session.items))}
                    for session in results.sessions[:most]
                ]
            }
            items = [item for session in shown["sessions"] for item in session["items"]]
        else:
            registry.call("recalled", self._memory._context, caller.get() or None, results.items[:most])
            items = [_item(hit) | _brief({"also": list(results.also.get(hit.id, ()))}) for hit in results.items[:most]]
            if results.truncated and (part := self._excerpt_of_best(query, given, items)):
                items = part
                note += CUT.format(id=items[0]["id"])
            shown = {"items": items}
            if results.shape != "one":
                more |= {"shape": results.shape, "count": results.count, "more": results.more or None}
            more["explained"] = None if results.explained is None else results.explained.as_dict()
        self._expose("recall", [(item["id"], tokens_of(str(item))) for item in items], caller.get())
        return {"relevant": results.relevant, "note": note, **shown, **_brief(more)}

    @tool(
        "Change a belief: supersede (new content), retract (was wrong), archive; reach a goal; merge, link (id EDGE "
        "other); accept or reject what awaits review, as the user says.", WRITES,
        takes(
            "id", id=text(), action=text(one_of=_ACTIONS, default="supersede"), content=text(), why=text(),
            other=text(), edge=text(one_of=STORED_TYPES, default="related_to"), valid_from=text(), origin=_ORIGIN,
        ),
        "status", id="string", status="string",
    )  # fmt: skip
    def correct(
        self, *, id: str, action: str = "supersede", origin: str = "agent", content: str = "", why: str = "",
        other: str = "", edge: str = "related_to", valid_from: str = "",
    ) -> dict[str, Any]:  # fmt: skip
        self._refuse_ignored(content)
        given: dict[str, Any] = {"origin": origin}
        reason = self._taint(given, content or why)
        origin = given["origin"]
        if bool(content) != (action == "supersede"):
            needs = "to supersede, give the new content" if not content else f"{action} takes no content"
            raise BadInput(needs, hint="supersede replaces a memory, retract needs a reason alone")
        if action == "supersede":
            receipt = self._memory.correct(id, content, why=why or None, valid_from=valid_from or None, **given)
        elif action == "retract":
            if not why:
                raise BadInput("say why it is retracted", hint="give why")
            receipt = self._memory.retract(id, why, origin=origin)
        elif action == "reach":
            # An agent may tick off what it was asked to do; a page or a tool's output may not.
            receipt = self._memory.archive(id, reached=True, origin=None if origin == "agent" else origin)
        elif action == "archive":
            receipt = self._memory.archive(id, origin=origin)
        elif action in ("merge", "link"):
            if not other:
                raise BadInput(f"to {action}, name the other memory", hint="other: its id")
            # A merged memory is trusted like the least of both; an agent may say that two contradict each other.
            ends = edge == "supersedes" or (edge == "contradicts" and origin in FOREIGN)
            for trusted in (id, other) if action == "merge" else (other,) if ends else ():
                if is_below(origin, self._memory.get(trusted).trust):
                    raise BadInput(f"memory {trusted} is trusted more than what {origin} says", hint="ask the user")
            receipt = self._memory.merge(id, other) if action == "merge" else self._memory.link(id, edge, other)
        elif origin != "user":
            hint = f"{reason}: `limpet review` is for them" if reason else "ask the user, then say origin user"
            raise BadInput(f"to {action} what is up for review is the user's", hint=hint)
        else:
            receipt = self._memory.accept(id) if action == "accept" else self._memory.reject(id)
        self._wrote()
        return self._tainted(receipt, reason)

    @tool(
        "A keyed fact: read, set, end, history.", WRITES,
        takes(
            "key", key=text(), value={"type": ["string", "number", "boolean"], "description": "sets it"}, end=flag(),
            history=flag(), valid_from=text(), as_of=text(), known_at=text(), origin=_ORIGIN,
        ),
        values="array", id="string", status="string",
    )  # fmt: skip
    def fact(
        self, *, key: str, origin: str = "agent", value: str | float | bool | None = None, end: bool = False,
        history: bool = False, **times: str,
    ) -> dict[str, Any]:  # fmt: skip
        valid_from, as_of, known_at = (times.get(name) or None for name in ("valid_from", "as_of", "known_at"))
        if value is None and not end:
            if history:
                facts = self._memory.fact_history(key, known_at=known_at)
            else:
                facts = [self._memory.fact(key, as_of=as_of, known_at=known_at)]
            shown = ("key", "value", "id", "valid_from", "valid_to", "confidence_word")
            return {"values": [{name: fact.as_dict().get(name) for name in shown} for fact in facts]}
        given: dict[str, Any] = {"origin": origin}
        content = "" if value is None else fact_value(value)
        reason = self._taint(given, content)
        if value is None:
            receipt = self._memory.end_fact(key, at=as_of, origin=given["origin"])
        elif end or history or as_of or known_at:
            raise BadInput("value sets the fact; it goes with valid_from and origin only")
        else:
            self._refuse_ignored(key, content)
            receipt = self._memory.set_fact(key, content, valid_from=valid_from, **given)
        self._wrote()
        return self._tainted(receipt, reason)

    @tool(
        "Why something is believed, what rests on it, its changes, conflicts, all (audit); what awaits "
        "review; a topic's page; the index.", READS,
        takes(
            "what", what=text(one_of=_EXPLAINED), about=text("id, key, file, topic, words"), depth=number(5, 64),
            limit=number(10, 200), as_of=text(), known_at=text(),
        ),
        review="array", page="string",  # of the others as the command's JSON
    )  # fmt: skip
    def explain(self, *, what: str, depth: int, limit: int, about: str = "", **given: str) -> dict[str, Any]:
        times: dict[str, Any] = {name: given.get(name) or None for name in ("as_of", "known_at")}
        if what == "review":
            waiting = [item.as_dict() for item in self._memory.review(limit=limit)]
            for item in waiting:
                if item["kind"] == "quarantine":  # its words wait because a model might obey them
                    item["memory"] |= {"content": GUARDED}
            return {"review": [_brief(item) for item in waiting]}
        if what not in ("index", "contradictions") and not about.strip():
            raise BadInput(f"{what} needs something to explain", hint="about: an id, a key, a topic or words")
        if what in ("topic", "index"):
            return {"page": self.page("index" if what == "index" else f"topic/{about}")}
        if what in ("audit", "timeline", "contradictions"):
            of = () if what == "contradictions" else (about,)
            return _brief(getattr(self._memory.graph, what)(*of, limit=limit, **times).as_dict())
        verb = self._memory.why if what == "why" else self._memory.impact
        return _brief(verb(self._id_of(about, times), depth=depth, limit=limit, **times).as_dict())

    @tool(
        "Whether recalled memories helped.", WRITES,
        takes("ids", "verdict", ids=texts(), verdict=text(one_of=("useful", "not_useful", "wrong"))),
        "noted", noted="integer",
    )  # fmt: skip
    def feedback(self, ids: list[str], verdict: str) -> dict[str, Any]:
        """Record feedback on ids, each of which fails alone."""
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
        return {"noted": len(ids) - len(rejected)} | ({"rejected": rejected} if rejected else {})

    @tool(
        "An agent's runs; compress sums up; journal: what was done.", WRITES,
        takes(
            "action", action=text(one_of=("start", "end", "list", "show", "compress", "journal")), name=text(),
            title=text(), summary=text(), limit=number(20, 200),
        ),
        name="string", sessions="array", journal="array", status="string",
    )  # fmt: skip
    def session(self, *, action: str, limit: int, name: str = "", title: str = "", summary: str = "") -> dict[str, Any]:
        if action == "list":
            return {"sessions": [_run(session) for session in self._memory.sessions(limit=limit)]}
        if action == "journal":
            lines = self._memory.journal(session=name or None, limit=limit)
            shown = [{"at": format_time(line.at), "session": line.session, "kind": line.kind, "what": line.what}
                     for line in lines]  # fmt: skip
            return {"journal": shown}
        if action == "start":
            run = self._memory.session_start(name or None, title=title or None)
            self._wrote()
            return _run(run)
        if not name:
            raise BadInput(f"to {action} a session, give its name", hint="action list shows them")
        if action == "show":
            latest = self._memory.session_memories(name)[-limit:]
            shown = [{"id": memory.id, "kind": memory.kind, "content": memory.content} for memory in latest]
            return _run(self._memory.session(name)) | {"latest": shown}
        verb = self._memory.session_end if action == "end" else self._memory.compress
        origin: dict[str, Any] = {"origin": "agent"}
        reason = self._taint(origin, summary) if summary else ""
        receipt = verb(name, summary=summary or None, origin=origin["origin"])
        self._wrote()
        return _written(receipt, reason)

    def _taint(self, given: dict[str, Any], text: str) -> str:
        """Set the origin in `given` to that of what the caller has read from outside. Return why, or ""."""
        session = caller.get() if caller.get() not in ("", THIS_PROCESS) else None
        return registry.call("taint", self._memory._context, session, given, text) or ""

    def _tainted(self, receipt: Receipt, why: str) -> dict[str, Any]:
        registry.call("tainted", self._memory._context, receipt, why)
        return _written(receipt, why)

    def _refuse_ignored(self, *contents: str) -> None:
        """Check a text against what the user wants ignored. Raises BadInput."""
        if is_ignored(" ".join(contents), state_here(self._memory.path, "").ignore):
            hint = "do not try again, and do not keep it elsewhere"
            raise BadInput("the user wants this ignored, so it is not stored", hint=hint)

    def _excerpt_of_best(
        self, query: str, given: dict[str, Any], shown: list[dict[str, Any]]
    ) -> list[dict[str, Any]] | None:
        """Return the results with an excerpt of the best one first, if it alone is too long for the budget."""
        budget: int = given["budget_tokens"]
        best = self._memory.recall(query, **given | {"budget_tokens": None, "k": 1, "explain": False}).items[:1]
        if not best or any(item["id"] == best[0].id for item in shown):
            return None
        part, _ = excerpt(best[0].content, words_of(query), int(budget / 2 * CHARACTERS_PER_TOKEN), best[0].part)
        shown = [_item(best[0]) | {"content": part}, *shown]
        while len(shown) > 1 and sum(tokens_of(str(item["content"])) + TOKENS_PER_ITEM for item in shown) > budget:
            shown.pop()
        return shown

    def _id_of(self, about: str, times: dict[str, Any]) -> str:
        """Return the memory that an id, a key or words name.

        A key, an id or a symbol must be in the memory's text: else the nearest memory is another thing.
        """
        beliefs = self._memory.audit(about, limit=1, **times).beliefs
        node = beliefs[0].node if beliefs else None
        is_name = len(about.split()) == 1 and any(char.isdigit() or char in "._/" for char in about[:-1])
        if node is not None and is_name and not names_id(about, node.id):
            fields = " ".join((node.id, node.content, node.key or ""))
            node = node if about.casefold() in fields.casefold() else None
        if node is None:
            raise BadInput(f"nothing is known about {about!r}", hint="recall finds memories and their ids")
        return node.id


def _item(item: Item) -> dict[str, Any]:
    return _brief(
        {
            "id": item.id, "kind": item.kind, "content": item.content, "score": round(item.score, 3),
            "confidence_word": item.confidence_word, "date": (format_time(item.valid_from) or "")[:10],
            "topics": list(item.topics), "key": item.key, "origin": item.origin,
            "trust": item.trust if item.trust != item.origin else None,
            **{name: value for name, value in item.as_dict().items()
               if name in ("newer", "resolved_by", "before", "also_said", "said_after", "outside", "marks")},
            "why": {} if item.why is None else {
                name: signal.contribution for name, signal in item.why.signals.items()
                if abs(signal.contribution) >= 0.005
            },
        }
    )  # fmt: skip


def _written(receipt: Receipt, why: str = "") -> dict[str, Any]:
    shown = _brief(receipt.as_dict())
    reason = "; ".join(filter(None, (why, for_tools(shown.get("reason", "")))))
    return shown | ({"reason": reason} if reason else {})


def _run(session: SessionRow) -> dict[str, Any]:
    times = {"started_at": format_time(session.started_at), "ended_at": format_time(session.ended_at)}
    return _brief({"name": session.name, "title": session.title, **times}) | {"memories": session.memories}


# Fields of answers that are of use to programs, not to an agent. A confidence is told by its word alone: models took
# 0.1, the number for a single statement, for a chance of one in ten.
_LEFT_OUT = frozenset(
    {"scope", "importance", "position", "session", "recorded_at", "event", "weight", "depths", "confidence"}
)


def _brief(shown: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without empty fields and those of no use to an agent, which pays in tokens."""
    kept = {name: _part(value) for name, value in shown.items() if name not in _LEFT_OUT}
    # 0 equals False and is no empty thing.
    return {
        name: part for name, part in kept.items() if part is not None and part is not False and part not in ("", [], {})
    }


def _part(value: Any) -> Any:
    if isinstance(value, list):
        return [_part(part) for part in value]
    if isinstance(value, dict):
        return _brief(value)
    return round(value, 2) if isinstance(value, float) else value
