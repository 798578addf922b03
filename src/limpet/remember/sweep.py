"""The sweep: today's rules over what is stored: what would not be stored so today."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..model.dataclass import dataclass
from ..model.errors import EmbedderUnavailable
from ..model.ids import parse_id
from ..model.memory import Memory
from ..store.records import Filter
from ..text.instructions import any_reads_like_instruction
from ..text.secrets import redact
from .validation import OUTSIDE, Demotion
from .write import Writer

if TYPE_CHECKING:
    from ..store import Store
    from .rules import Rules

PAGE = 500
# What is found without a model, beside rules.RULES.
PLAIN = ("secret", "instruction")


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """One memory that today's rules speak against. `rule`: secret, instruction, or one of rules.RULES."""

    memory: Memory
    rule: str
    reason: str

    def as_dict(self) -> dict[str, object]:
        """{"id", "rule", "reason", "content", "kind", "origin"}; of a secret only where it stands."""
        return {
            "id": self.memory.id,
            "rule": self.rule,
            "reason": self.reason,
            "content": redact(self.memory.content)[0],
            "kind": self.memory.kind,
            "origin": self.memory.origin,
        }


def swept(
    store: Store, rules: Rules | None, scope: str, now: int, progress: Callable[[int, int], None] | None
) -> list[Swept]:
    """Every active memory of a scope that breaks a rule, newest first. Raises EmbedderUnavailable without rules."""
    if rules is None:
        raise EmbedderUnavailable(
            "there is no embedder to judge texts with", hint="`limpet doctor` says what is missing"
        )
    where = Filter(scopes=(scope,), as_of=now)
    total, done = store.listings.count(where), 0
    found: list[Swept] = []
    for page in _pages(store, where):
        left: list[Memory] = []
        for one in page:
            plain = _plain(one)
            found += [plain] if plain else []
            if plain is None and not _overruled(store, one):
                left.append(one)
        judged = rules.judge_many(
            [one.content for one in left],
            kinds=[one.kind for one in left],
            origins=[one.origin for one in left],
            speakers=[one.speaker for one in left],
        )
        found += [
            Swept(memory=one, rule=refusal.rule, reason=refusal.reason)
            for one, refusal in zip(left, judged, strict=True)
            if refusal is not None
        ]
        done += len(page)
        if progress:
            progress(done, max(total, done))
    return found


def _pages(store: Store, where: Filter) -> Iterator[list[Memory]]:
    cursor = None
    while True:
        page = store.listings.page(where, sort="created", limit=PAGE, cursor=cursor)
        yield page.memories
        cursor = page.cursor
        if cursor is None:
            return


def _plain(one: Memory) -> Swept | None:
    """What needs no model: secrets, and outside text that reads like an instruction."""
    _, secrets = redact(one.content)
    if secrets:
        return Swept(
            memory=one, rule="secret", reason=f"it holds a secret ({', '.join(secrets)}): `limpet purge` erases it"
        )
    fields = (one.content, one.key, one.topics, one.speaker, one.source, one.session, one.metadata)
    told = any_reads_like_instruction(*fields) if one.origin in OUTSIDE else None
    return Swept(memory=one, rule="instruction", reason=f"it {told}") if told else None


def _overruled(store: Store, one: Memory) -> bool:
    """A person stored it anyway, or looked at it in review already."""
    return any(
        event.data.get("anyway") is True or event.type == "reviewed"
        for event in store.ledger.events(memory=parse_id(one.id))
    )


def set_right(writer: Writer, found: Sequence[Swept]) -> None:
    """Secrets and instructions leave recall until a person has looked; what a rule speaks against is an episode."""
    for one in found:
        raw = parse_id(one.memory.id)
        if one.rule in PLAIN:
            writer.event("quarantined", raw, origin="agent", why=f"{one.rule}: {one.reason}")
            continue
        why = Demotion(kind=one.memory.kind, key=one.memory.key, rule=one.rule, reason=one.reason)
        writer.event("edited", raw, origin="agent", content=one.memory.content, kind="episode", demoted=why.as_data())
