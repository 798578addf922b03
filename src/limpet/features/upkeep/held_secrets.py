"""The scan: secrets that older versions stored, anywhere in the store, and their redaction. None is ever shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...erasure import purge
from ...model.dataclass import dataclass, field, replace
from ...model.encode import OPTIONAL, JsonForm, by
from ...model.errors import BadInput
from ...model.ids import format_id, parse_id
from ...remember.decide import state
from ...remember.validation import ValidStatement
from ...text.secrets import redact, redact_fields

if TYPE_CHECKING:
    from ...context import Context
    from ...model.memory import Memory
    from ...remember.write import Writer

_LIST: dict[str, Any] = by(list)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSecret(JsonForm):
    """Where the store holds a secret. `place`: memory, journal, session or scope; `id`: of the memory, the number
    of the journal's line, or none where the name itself is what holds it."""

    place: str
    scope: str | None
    id: str | None
    fields: tuple[str, ...] = field(metadata=_LIST)
    secrets: tuple[str, ...] = field(metadata=_LIST)  # what they are, not what they say
    outcome: str = "found"  # with redaction: redacted, erased, or left for what cannot be redacted
    now: str | None = field(default=None, metadata=OPTIONAL)  # the memory that says what is left of it


def scan(context: Context, *, redact: bool) -> list[HeldSecret]:
    """Every place of the store, in all scopes. `redact`: memories are purged and what is left of them is stored again,
    lines of the journal are erased."""
    found = [*_memories(context), *_journals(context), *_names(context)]
    return [_set_right(context, one) for one in found] if redact else found


def _memories(context: Context) -> Iterator[HeldSecret]:
    held: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    everywhere = context.in_all_scopes()
    for event in context.store.ledger.events():
        if event.type.startswith("session_"):
            continue
        parts = {"content": event.content} | {name: one for name, one in event.data.items() if name != "scope"}
        for name, value in parts.items():
            names = redact_fields({name: value})[1] if value else ()
            if names:
                fields, secrets = held.setdefault(format_id(event.memory), ({}, {}))
                fields[name] = None
                secrets.update(dict.fromkeys(names))
    for id, (fields, secrets) in held.items():
        memory = everywhere.memory(id)
        if memory.state != "purged":
            yield HeldSecret(
                place="memory", scope=None if redact(memory.scope)[1] else memory.scope, id=id, fields=tuple(fields),
                secrets=tuple(secrets),
            )  # fmt: skip


def _journals(context: Context) -> Iterator[HeldSecret]:
    for scope in _scopes(context):
        for number, line in context.store.journal.numbered(scope):
            said = {"what": line.what, "session": line.session}
            named = {name: redact(text)[1] for name, text in said.items()}
            if any(named.values()):
                yield HeldSecret(
                    place="journal", scope=scope, id=str(number),
                    fields=tuple(name for name, one in named.items() if one),
                    secrets=tuple(dict.fromkeys(one for names in named.values() for one in names)),
                )  # fmt: skip


def _names(context: Context) -> Iterator[HeldSecret]:
    """Names of scopes, and names and titles of sessions."""
    seen = set()
    for event in context.store.ledger.events():
        scope = event.data.get("scope")
        if isinstance(scope, str) and scope not in seen:
            seen.add(scope)
            if names := redact(scope)[1]:
                yield HeldSecret(place="scope", scope=None, id=None, fields=("name",), secrets=names)
        if event.type == "session_started":
            said = {name: redact(str(event.data.get(name) or ""))[1] for name in ("name", "title")}
            if any(said.values()):
                yield HeldSecret(
                    place="session", scope=scope if scope and not redact(scope)[1] else None,
                    id=None if said["name"] else event.data.get("name"),
                    fields=tuple(name for name, one in said.items() if one),
                    secrets=tuple(dict.fromkeys(one for names in said.values() for one in names)),
                )  # fmt: skip


def _scopes(context: Context) -> list[str]:
    named = {event.data.get("scope") for event in context.store.ledger.events()}
    return sorted({context.scope, *(one for one in named if isinstance(one, str))})


def _set_right(context: Context, one: HeldSecret) -> HeldSecret:
    if one.place == "journal" and one.scope and one.id:
        gone = context.store.journal.drop(one.scope, [int(one.id)])
        return replace(one, outcome="erased" if gone else "left")
    if one.place != "memory" or one.id is None:
        return replace(one, outcome="left")
    memory = context.in_all_scopes().memory(one.id)
    own = context.in_scope(memory.scope)
    statement = _without(own, memory)
    if statement is None:
        purge(own, memory.id, confirm=True)
        return replace(one, outcome="erased")
    changed = statement.content != memory.content
    old = parse_id(memory.id)
    links = [*own.store.edges.of([old]), *own.store.edges.of([old], incoming=True)]

    def again(writer: Writer) -> str:
        # The same words count as said again, of what is about to go: unless they are made a new memory.
        id = state(writer, statement, fresh=not changed).id
        assert id is not None
        new = parse_id(id)
        for link in links:
            ends = [new if end == old else end for end in (link.source, link.target)]
            data: dict[str, Any] = {"edge": link.type, "target": ends[1].hex()}
            if link.weight != 1.0:
                data["weight"] = link.weight
            writer.event("linked", ends[0], origin=statement.origin, **data)
        return id

    # Before the old one goes, so that a process killed in between loses nothing.
    new = own.write(again)
    purge(own, memory.id, confirm=True)
    return replace(one, outcome="redacted", now=new)


def _without(context: Context, memory: Memory) -> ValidStatement | None:
    """What is believed still, without its secrets. None: nothing is, or nothing else was said."""
    if memory.state != "active" or memory.superseded_by is not None:
        return None
    try:
        return context.validate(
            {
                "content": memory.content, "kind": memory.kind, "topics": memory.topics, "metadata": memory.metadata,
                "key": memory.key, "source": memory.source, "session": memory.session, "speaker": memory.speaker,
                "origin": memory.origin, "importance": memory.importance, "pin": memory.pinned,
                "valid_from": memory.valid_from, "valid_to": memory.valid_to,
            }
        )  # fmt: skip
    except BadInput:
        return None
