"""The eight tools as a client lists them: names, words, and the JSON Schema of what they take and answer.

Every session pays for this text: all of it is under 6,000 characters. The tools themselves are in `tools.py`; what was
given is held against these schemas in `arguments.py`.
"""

from __future__ import annotations

from typing import Any

from ..model.memory import KINDS
from ..rank.constants import BRIEF_TOKENS

Schema = dict[str, Any]


def _text(description: str = "", *, one_of: tuple[str, ...] = (), default: str = "") -> Schema:
    return (
        {"type": "string"}
        | ({"enum": list(one_of)} if one_of else {})
        | ({"default": default} if default else {})
        | ({"description": description} if description else {})
    )


def _texts(description: str = "") -> Schema:
    return {"type": "array", "items": {"type": "string"}} | ({"description": description} if description else {})


def _number(default: int, most: int = 0, *, least: int = 1, description: str = "") -> Schema:
    return (
        {"type": "integer", "minimum": least}
        | ({"maximum": most} if most else {})
        | {"default": default}
        | ({"description": description} if description else {})
    )


def _yes(description: str = "") -> Schema:
    return {"type": "boolean"} | ({"description": description} if description else {})


def _takes(*required: str, **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties} | ({"required": list(required)} if required else {})


def _answers(*required: str, **properties: str) -> Schema:
    """An object with fields of these types."""
    return {
        "type": "object",
        "properties": {name: {"type": type} for name, type in properties.items()},
        **({"required": list(required)} if required else {}),
    }


# Who says so; an import has a command of its own.
_SAID = _text(one_of=("user", "agent", "tool", "web"), default="agent")
_KEY = _text("SUBJECT.ATTRIBUTE: user.city")

# One thing to remember.
ITEM = _takes(
    "content",
    content=_text(),
    kind=_text(one_of=KINDS, default="fact"),
    topics=_texts(),
    key=_KEY,
    origin=_SAID,
    source=_text("file:line or URL"),
    valid_from=_text(),
    because=_texts("ids it rests on"),
    session=_text(),
)
REMEMBER = _takes("items", items={"type": "array", "items": ITEM})
PREPARE = _takes("message", message=_text(), budget_tokens=_number(BRIEF_TOKENS))
RECALL = _takes(
    "query",
    query=_text("a question, exact names"),
    # Without a default: one that the agent names counts as a wish.
    k={"type": "integer", "minimum": 1, "maximum": 100},
    kind=_texts(),
    topics=_texts(),
    since=_text(),
    until=_text(),
    known_at=_text("as believed then"),
    budget_tokens=_number(2000, least=0),
    explain=_yes(),
    sessions=_yes("not memories"),
)
CORRECT = _takes(
    "id",
    id=_text(),
    action=_text(one_of=("supersede", "retract", "archive", "reach", "accept", "reject"), default="supersede"),
    content=_text(),
    why=_text(),
    valid_from=_text(),
    origin=_SAID,
)
FACT = _takes(
    "key",
    key=_text(),
    value={"type": ["string", "number", "boolean"], "description": "sets it"},
    end=_yes(),
    history=_yes(),
    valid_from=_text(),
    as_of=_text(),
    known_at=_text(),
    origin=_SAID,
)
EXPLAIN = _takes(
    "what",
    what=_text(one_of=("why", "impact", "timeline", "contradictions", "audit", "review")),
    about=_text("id, key or words"),
    depth=_number(5, 64),
    limit=_number(10, 200),
    as_of=_text(),
    known_at=_text(),
)
FEEDBACK = _takes(
    "ids", "verdict", ids=_texts(), verdict=_text(one_of=("useful", "not_useful", "wrong"))
)  # fmt: skip
SESSION = _takes(
    "action",
    action=_text(one_of=("start", "end", "list", "show", "compress", "journal")),
    name=_text(),
    title=_text(),
    summary=_text(),
    limit=_number(20, 200),
)

# What each answers with: the fields that carry the answer. An empty field is left out, so few are promised.
_ANSWERS: dict[str, Schema] = {
    "remember": _answers("results", results="array", rejected="integer"),
    "prepare": _answers("brief", brief="string"),
    "recall": _answers("relevant", relevant="boolean", note="string", items="array", sessions="array"),
    "correct": _answers("status", id="string", status="string"),
    "fact": _answers(values="array", id="string", status="string"),
    "explain": _answers(
        reasons="array", affected="array", moments="array", contradictions="array", beliefs="array", review="array"
    ),
    "feedback": _answers("noted", noted="integer"),
    "session": _answers(name="string", sessions="array", journal="array", status="string"),
}
_ANSWERS["remember"]["properties"]["results"]["items"] = {"type": "object", "required": ["status"]}
_ANSWERS["recall"]["properties"]["items"]["items"] = {"type": "object", "required": ["id", "content"]}

_READS = {"readOnlyHint": True}
# Nothing is lost by a correction either: purge is not offered.
_WRITES = {"destructiveHint": False, "openWorldHint": False}


# Claude Code puts the tools of servers behind a search: these two stand before its model all the same, and the search
# finds them by these words.
_SOUGHT = {"remember": "store a memory", "recall": "find a memory"}


def _tool(name: str, description: str, takes: Schema, hints: dict[str, bool]) -> Schema:
    sought = _SOUGHT.get(name)
    return {
        "name": name,
        "description": description,
        "inputSchema": _listed(takes),
        "outputSchema": _ANSWERS[name],
        "annotations": hints,
    } | ({"_meta": {"anthropic/alwaysLoad": True, "anthropic/searchHint": sought}} if sought else {})


def _listed(schema: Any, *, names: bool = False) -> Any:
    """A schema without limits, which an error tells if need be, and defaults; `names`: its keys name properties."""
    if not isinstance(schema, dict):
        return schema
    return {
        key: _listed(value, names=key == "properties")
        for key, value in schema.items()
        if names or key not in ("minimum", "maximum", "default")
    }


TAKES = {
    "remember": REMEMBER, "prepare": PREPARE, "recall": RECALL, "correct": CORRECT, "fact": FACT, "explain": EXPLAIN,
    "feedback": FEEDBACK, "session": SESSION,
}  # fmt: skip
TOOLS: list[Schema] = [
    _tool("remember", "Store memories, one statement an item, clear alone.", REMEMBER, _WRITES),
    _tool(
        "prepare",
        "A brief for a task: rules, facts, lessons, goals, recent work, conflicts.",
        PREPARE,
        _READS,
    ),
    _tool(
        "recall",
        'Find memories by meaning and words, best first. Times: ISO or "3 days ago".',
        RECALL,
        _READS,
    ),
    _tool(
        "correct",
        "Change a belief: supersede (new content), retract (was wrong), archive; reach a goal; accept or reject what "
        "awaits review, as the user says.",
        CORRECT,
        _WRITES,
    ),
    _tool("fact", "A keyed fact, one current value: read, set, end, history.", FACT, _WRITES),
    _tool(
        "explain",
        "Why something is believed, what rests on it, its changes, conflicts, all of these (audit); what awaits "
        "review.",
        EXPLAIN,
        _READS,
    ),
    _tool("feedback", "Whether recalled memories helped.", FEEDBACK, _WRITES),
    _tool(
        "session",
        "An agent's runs; compress sums up; journal: what was done.",
        SESSION,
        _WRITES,
    ),
]  # fmt: skip
