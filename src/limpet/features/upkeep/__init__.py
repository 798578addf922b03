"""Upkeep: texts that today's rules would refuse, memories long unused, and secrets in the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice

from ...model.clock import MICROSECONDS_PER_DAY
from ...model.dataclass import dataclass, replace
from ...model.errors import BadInput
from ...model.ids import parse_id
from ...model.memory import Filter, Memory
from ...remember.beliefs import sum_up
from ...remember.validation import OUTSIDE
from ...text.instructions import any_reads_like_instruction
from ...text.secrets import redact as without_secrets
from ...text.turns import OF_SESSION
from ..policy import Swept, set_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...api import Limpet
    from ...remember.write import Writer
    from .held_secrets import HeldSecret

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
    _, secrets = without_secrets(memory.content)
    if secrets:
        return Swept(
            memory=memory, rule="secret", reason=f"it holds a secret ({', '.join(secrets)}): `limpet purge` erases it"
        )
    fields = (memory.content, memory.key, memory.topics, memory.speaker, memory.source, memory.session, memory.metadata)
    why = any_reads_like_instruction(*fields) if memory.origin in OUTSIDE else None
    return Swept(memory=memory, rule="instruction", reason=f"it {why}") if why else None


def scan(memory: Limpet, *, redact: bool = False) -> list[HeldSecret]:
    """Find where the store, all its scopes, holds secrets: memories, journal, names. Says where and of which kind,
    never the secret.

    `redact`: purges such memories and stores what is left of them again, erases such lines of the journal; names
    are left, and the outcome says so. Cannot be undone.

    >>> _ = memory.remember("Deploys go out on Tuesdays")
    >>> scan(memory)
    []
    """
    from .held_secrets import held_secrets, take_out

    context = memory._context
    held = list(held_secrets(context))
    return [take_out(context, secret) for secret in held] if redact else held


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
