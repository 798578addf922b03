"""The scan: secrets that older versions stored, anywhere in the store, and their redaction. None is ever shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from ...erasure import purge
from ...model.dataclass import dataclass, field, replace
from ...model.encode import OPTIONAL, JsonForm
from ...model.errors import BadInput
from ...model.ids import format_id, parse_id
from ...remember.decide import state
from ...remember.validation import ValidStatement
from ...text.secrets import redact, redact_fields

if TYPE_CHECKING:
    from ...context import Context
    from ...model.memory import Memory
    from ...remember.write import Writer

_LIST: dict[str, Any] = {"form": list}
# What a memory keeps when its secrets are taken out.
KEPT = (
    "content", "kind", "topics", "metadata", "key", "source", "session", "speaker", "origin", "importance",
    "valid_from", "valid_to",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSecret(JsonForm):
    """A secret that the store holds. `place`: memory, journal, session or scope; `id`: of the memory, the number of the
    journal's line, or None where the name itself holds it."""

    place: str
    scope: str | None
    id: str | None
    fields: tuple[str, ...] = field(metadata=_LIST)
    secrets: tuple[str, ...] = field(metadata=_LIST)  # what they are, not what they say
    outcome: str = "found"  # with redaction: redacted, erased, or left for what cannot be redacted
    now: str | None = field(default=None, metadata=OPTIONAL)  # the memory that says what is left of it


def held_secrets(context: Context) -> Iterator[HeldSecret]:
    """Yield the secrets of the whole store, in all scopes."""
    memories: dict[bytes, dict[str, tuple[str, ...]]] = {}
    sessions: list[HeldSecret] = []
    scopes = {context.scope: None}
    for event in context.store.ledger.events():
        scope = event.data.get("scope")
        if isinstance(scope, str):
            scopes[scope] = None
        if event.type == "session_started":
            names = {name: event.data.get(name) for name in ("name", "title")}
            sessions += _place("session", _shown(scope), _shown(names["name"]), _secrets(names))
        elif not event.type.startswith("session_"):
            names = {"content": event.content} | {name: value for name, value in event.data.items() if name != "scope"}
            for name, secrets in _secrets(names).items():
                fields = memories.setdefault(event.memory, {})
                fields[name] = fields.get(name, ()) + secrets
    everywhere = context.in_all_scopes()
    for id, fields in memories.items():
        memory = everywhere.memory(format_id(id))
        if memory.state != "purged":
            yield from _place("memory", _shown(memory.scope), memory.id, fields)
    for scope in sorted(scopes):
        for number, line in context.store.journal.numbered(scope):
            yield from _place("journal", scope, str(number), _secrets({"what": line.what, "session": line.session}))
    for scope in scopes:
        yield from _place("scope", None, None, _secrets({"name": scope}))
    yield from sessions


def _secrets(fields: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """Return the kinds of secrets in each field that holds any."""
    by_field = {name: redact_fields({name: value})[1] for name, value in fields.items() if value}
    return {name: secrets for name, secrets in by_field.items() if secrets}


def _place(place: str, scope: str | None, id: str | None, held: dict[str, tuple[str, ...]]) -> Iterator[HeldSecret]:
    if held:
        secrets = tuple(dict.fromkeys(chain.from_iterable(held.values())))
        yield HeldSecret(place=place, scope=scope, id=id, fields=tuple(held), secrets=secrets)


def _shown(name: str | None) -> str | None:
    """Return a name as it may be shown: without a secret."""
    return None if name and redact(name)[1] else name


def take_out(context: Context, secret: HeldSecret) -> HeldSecret:
    """Take a secret out: purge the memory and store it again without, or erase the line of the journal."""
    if secret.place == "journal" and secret.scope and secret.id:
        gone = context.store.journal.drop(secret.scope, [int(secret.id)])
        return replace(secret, outcome="erased" if gone else "left")
    if secret.place != "memory" or secret.id is None:
        return replace(secret, outcome="left")
    memory = context.in_all_scopes().memory(secret.id)
    own = context.in_scope(memory.scope)
    statement = _without(own, memory)
    if statement is None:
        purge(own, memory.id, confirm=True)
        return replace(secret, outcome="erased")
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
    return replace(secret, outcome="redacted", now=new)


def _without(context: Context, memory: Memory) -> ValidStatement | None:
    """Return the memory's statement without its secrets; None if it is no longer believed or nothing is left."""
    if memory.state != "active" or memory.superseded_by is not None:
        return None
    try:
        return context.validate({"pin": memory.pinned} | {name: getattr(memory, name) for name in KEPT})
    except BadInput:
        return None
