"""Upkeep: texts that today's rules would refuse, memories long unused, and secrets anywhere in the store.

No secret is ever shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice

from .. import secrets as secret_rules
from ..erasure import purge
from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import dataclass, field, replace
from ..model.encode import OPTIONAL, JsonForm
from ..model.errors import BadInput
from ..model.ids import format_id, parse_id
from ..model.memory import Filter, Memory
from ..remember.beliefs import sum_up
from ..remember.decide import state
from ..remember.validation import OUTSIDE, ValidStatement
from ..text.instructions import any_reads_like_instruction
from ..text.turns import OF_SESSION
from .policy import Swept, set_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..api import Limpet
    from ..context import Context
    from ..remember.write import Writer

# Memories that the sweep reads at once.
PAGE = 500
# What is found without a model.
PLAIN = ("secret", "instruction")
# Memories that one run of retention takes at most: the next run takes the others.
MOST_EXPIRED = 10_000
MOST_DAYS = 1_000_000
# Fewer memories of a session than these are not worth a summary.
FOLDED_FROM = 3


def sweep(memory: Limpet, *, apply: bool = False, progress: Callable[[int, int], None] | None = None) -> list[Swept]:
    """Find memories of this scope that would not be stored so today: by a rule, for a secret, or as an instruction.

    `apply`: what a rule speaks against becomes an episode, the rest is quarantined and waits for review; undo brings
    them back. Newest first. Raises EmbedderUnavailable.

    >>> _ = memory.remember("Deploys go out on Tuesdays")
    >>> sweep(memory)
    []
    """
    context = memory._context
    store, policy = context.store, context.policy
    where = Filter(scopes=(context.scope,), as_of=context.now())
    total, done, memories = store.listings.count(where), 0, store.listings.each(where)
    swept: list[Swept] = []
    while part := list(islice(memories, PAGE)):
        plain = {item.id: broken for item in part if (broken := _plain(item))}
        swept += plain.values()
        if policy:
            swept += policy.sweep(store, [item for item in part if item.id not in plain])
        done += len(part)
        if progress:
            progress(done, max(total, done))

    def write(writer: Writer) -> None:
        for item in swept:
            now = writer.reads.memories.get(parse_id(item.memory.id)) if item.rule in PLAIN else None
            if now is not None and now.state == "active" and now.content == item.memory.content:
                why = f"{item.rule}: {item.reason}"
                writer.event("quarantined", parse_id(now.id), origin="agent", why=why)
        set_right(writer, [item for item in swept if item.rule not in PLAIN])

    if apply and swept:
        context.write(write)
    return swept


def _plain(memory: Memory) -> Swept | None:
    """Find what needs no model: secrets, and outside text that reads like an instruction."""
    _, secrets = secret_rules.redact(memory.content)
    if secrets:
        return Swept(
            memory=memory, rule="secret", reason=f"it holds a secret ({', '.join(secrets)}): `limpet purge` erases it"
        )
    fields = (memory.content, memory.key, memory.topics, memory.speaker, memory.source, memory.session, memory.metadata)
    why = any_reads_like_instruction(*fields) if memory.origin in OUTSIDE else None
    return Swept(memory=memory, rule="instruction", reason=f"it {why}") if why else None


# -- secrets in the store

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
    by_field = {name: secret_rules.redact_fields({name: value})[1] for name, value in fields.items() if value}
    return {name: secrets for name, secrets in by_field.items() if secrets}


def _place(place: str, scope: str | None, id: str | None, held: dict[str, tuple[str, ...]]) -> Iterator[HeldSecret]:
    if held:
        secrets = tuple(dict.fromkeys(chain.from_iterable(held.values())))
        yield HeldSecret(place=place, scope=scope, id=id, fields=tuple(held), secrets=secrets)


def _shown(name: str | None) -> str | None:
    """Return a name as it may be shown: without a secret."""
    return None if name and secret_rules.redact(name)[1] else name


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


def scan(memory: Limpet, *, redact: bool = False) -> list[HeldSecret]:
    """Find where the store, all its scopes, holds secrets: memories, journal, names. Says where and of which kind,
    never the secret.

    `redact`: purges such memories and stores what is left of them again, erases such lines of the journal; names
    are left, and the outcome says so. Cannot be undone.

    >>> _ = memory.remember("Deploys go out on Tuesdays")
    >>> scan(memory)
    []
    """
    context = memory._context
    held = list(held_secrets(context))
    return [take_out(context, secret) for secret in held] if redact else held


# -- memories long unused


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """The memories that expire: `archive`, the oldest first; `fold`: sessions to summarise before."""

    archive: list[Memory]
    fold: list[str]
    applied: bool = False

    def as_dict(self) -> dict[str, object]:
        """Return {"archive": [{"id", "kind", "session", "content"}], "fold": [names], "applied"}."""
        names = ("id", "kind", "session", "content")
        shown = [{name: getattr(memory, name) for name in names} for memory in self.archive]
        return {"archive": shown, "fold": self.fold, "applied": self.applied}


def retention(memory: Limpet, *, days: float = 365, apply: bool = False) -> Retention:
    """Find active episodes of this scope that were neither stated nor used for `days`; archive them with `apply`.

    Sessions that lose three or more are summed up first. Never what is pinned, the value of a key, the summary
    of a session, or the reason of something that is held. `undo` brings all back. Raises BadInput.

    >>> _ = memory.remember("Ana asked about the menu", kind="episode")
    >>> retention(memory, days=365).archive  # nothing is that old
    []
    """
    context = memory._context
    store = context.store
    if isinstance(days, bool) or not 1 <= days <= MOST_DAYS:
        raise BadInput(f"days must be from 1 to {MOST_DAYS:,}, not {str(days)[:40]}")
    before = int(context.now() - days * MICROSECONDS_PER_DAY)
    rows = store.listings.unseen(Filter(scopes=(context.scope,), kinds=("episode",)), before=before, limit=MOST_EXPIRED)
    old = [item for item in store.memories.by_rows(rows) if item.key is None and item.source != OF_SESSION]
    ids = [parse_id(item.id) for item in old]
    reasons = {edge.target for edge in store.edges.of(ids, incoming=True, types=("caused_by",))}
    reasons |= {edge.source for edge in store.edges.of(ids, types=("supports",))}
    old = [item for item in old if parse_id(item.id) not in reasons]
    sizes = Counter(item.session for item in old if item.session is not None)
    expired = Retention(archive=old, fold=[name for name, size in sizes.items() if size >= FOLDED_FROM])
    if not apply or not old:
        return expired

    def archive(writer: Writer) -> None:
        for name in expired.fold:
            sum_up(writer, context, name, None)
        for item in old:
            writer.event("archived", parse_id(item.id), origin="agent", why="retention")

    context.write(archive)
    return replace(expired, applied=True)
