"""The content policy: what is no belief of anybody becomes an episode. Judged in the background, after a text has its
vector, by the organizer, and by the sweep.

The reader says of each sentence which of five rules speaks against it, and whether it is talk of the moment, in the
languages that it was taught. Nothing is lost: the text is an episode, and a person may make a belief of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from ..model.clock import MICROSECONDS_PER_SECOND
from ..model.dataclass import NamedTuple, dataclass, replace
from ..model.errors import EmbedderUnavailable
from ..model.ids import parse_id
from ..model.memory import Memory
from ..remember.validation import RECORDS, ValidStatement
from ..remember.write import mark_of
from ..secrets import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..remember.write import Writer
    from ..store import Store
    from ..vectors.reader import Reader

REASONS: dict[str, str] = {
    "passing emotion": "It records a mood of the moment, which is no longer true tomorrow.",
    "joke or hyperbole": "It is a joke or an exaggeration, and would be recalled as if it were a fact.",
    "guess about a mind": "It guesses what a person thinks or intends from how they behave.",
    "inferred status": "It infers a person's health, money or relationships, which they have not stated themselves.",
    "personality label": "It labels a person's character, which they have not stated of themselves.",
}
RULES = tuple(REASONS)
# Said by two other outputs of the reader, of what nobody gave a kind or a key: "ship it" may be a goal, "on" a value.
# Of 4,500 notes by others three are taken for it, all open questions; of 108 questions 100, of 58 orders and thanks 22.
# One word or two are judged when they are stored.
TALK, TALK_FROM, TALK_WORDS = "small talk or order", 0.97, 3
REASONS[TALK] = "It is small talk, a question or an order of the moment, and nothing in it lasts."
# Probability of any rule from which a sentence is refused; and from which one of the user's is, or one beside others
# that may stay. Chosen on the tuning half of tests/quality/bias_sentences.jsonl.
REFUSED_FROM, CLEARLY_FROM = 0.6, 0.9
# What an agent labels or infers is no less wrong for what stands beside it.
ALONE = frozenset({"inferred status", "personality label"})
# Longer texts are documents and transcripts, and of more than a few sentences some always say what lasts.
PARTS, JUDGED_CHARACTERS = 5, 2_000
# Fewer words are a greeting, thanks, a cry: beside a refused sentence they state nothing.
STATEMENT_WORDS = 4
# In these kinds people are labelled: what an agent said in them waits for its judgement before it stands in a brief, at
# most so many microseconds. Where nobody works the queue, nothing is judged.
WAITING, WAITS = frozenset({"fact", "inference", "opinion"}), MICROSECONDS_PER_SECOND * 60
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)|\n+")


class Refusal(NamedTuple):
    """A reason for not believing a statement."""

    rule: str  # one of RULES
    score: float  # 0 to 1

    @property
    def reason(self) -> str:
        """One sentence for a person."""
        return REASONS[self.rule]


class ContentPolicy:
    """Judges statements by the reader."""

    def __init__(self, load: Callable[[], Reader]) -> None:
        self._load = load

    def judge(self, stated: Sequence[Memory | ValidStatement]) -> list[Refusal | None]:
        """Return for each statement the rule that it breaks, or None, in order. Raises EmbedderUnavailable."""
        sentences = {
            i: parts
            for i, statement in enumerate(stated)
            if statement.kind not in RECORDS
            and len(statement.content) <= JUDGED_CHARACTERS
            and len(parts := [part for part in _SENTENCE_END.split(statement.content) if part.strip()]) <= PARTS
        }
        texts = list(dict.fromkeys((part, stated[i].speaker) for i, parts in sentences.items() for part in parts))
        judged = dict(zip(texts, self._scores(texts), strict=True))
        refusals: list[Refusal | None] = [None] * len(stated)
        for i, parts in sentences.items():
            least = dict.fromkeys(RULES, CLEARLY_FROM if stated[i].origin == "user" else REFUSED_FROM)
            if stated[i].kind == "fact" and stated[i].key is None:
                least[TALK] = TALK_FROM
            against = [
                [Refusal(rule, score) for rule, score in judged[part, stated[i].speaker].items()
                 if score >= least.get(rule, math.inf)]
                for part in parts
            ]  # fmt: skip
            broken = [refusal for refused in against for refusal in refused]
            fair = [part for part, refused in zip(parts, against, strict=True) if not refused]
            if any(len(part.split()) >= STATEMENT_WORDS for part in fair):
                broken = [refusal for refusal in broken if refusal.rule in ALONE and refusal.score >= CLEARLY_FROM]
            refusals[i] = max(broken, key=lambda refusal: (refusal.rule != TALK, refusal.score), default=None)
        return refusals

    def _scores(self, texts: Sequence[tuple[str, str | None]]) -> list[dict[str, float]]:
        """Return how likely the likeliest rule and TALK speak against sentences with their speakers, each alone; {} of
        a text that the reader does not know."""
        reader = self._load()
        readable = [reader.reads(text) for text, _ in texts]
        inputs = [
            ("", f"{speaker}: {text}" if speaker else text)
            for (text, speaker), fits in zip(texts, readable, strict=True)
            if fits
        ]
        scores = []
        for heads, (_, text) in zip(reader.heads(inputs), inputs, strict=True):
            rule = max(RULES, key=heads["rule"].__getitem__)
            talk = min(heads["worth"]["none"], heads["kept"]["no"]) if len(text.split()) >= TALK_WORDS else 0.0
            scores.append({rule: round(1 - heads["rule"]["fine"], 3), TALK: round(talk, 3)})
        known = iter(scores)
        return [next(known) if fits else {} for fits in readable]

    @staticmethod
    def unjudged(store: Store, rows: list[int], now: int) -> list[int]:
        """Return those of the rows that wait for a judgement, and may stand in no section of a brief before it."""
        waiting = store.jobs.unchecked(rows)
        return [
            num
            for num, memory in zip(waiting, store.memories.by_rows(waiting), strict=True)
            if memory.trust != "user" and memory.kind in WAITING and not (memory.key or memory.pinned)
            and memory.created_at_us > now - WAITS
        ]  # fmt: skip

    def judged(self, statements: Sequence[ValidStatement]) -> list[ValidStatement]:
        """Return the statements as a background run may store them: what a rule speaks against is an episode."""
        stated = list(statements)
        with suppress(EmbedderUnavailable):
            for i, against in enumerate(self.judge(stated)):
                if against is not None:
                    why = demotion(stated[i].kind, stated[i].key, against.rule)
                    stated[i] = replace(stated[i], kind="episode", key=None, demoted=why)
        return stated

    def demote(
        self, store: Store, memories: Sequence[Memory], write: Callable[[Callable[[Writer], None]], object]
    ) -> set[str]:
        """Turn the memories that a rule refuses into episodes. Return their ids.

        `write`: runs a function in a transaction of its own. Raises EmbedderUnavailable.
        """
        against = self.sweep(store, memories)
        for item in against:
            write(lambda writer: set_right(writer, [item]))  # noqa: B023
        return {item.memory.id for item in against}

    def sweep(self, store: Store, memories: Sequence[Memory]) -> list[Swept]:
        """Return the memories that a rule refuses, without those about which a person decided. Raises
        EmbedderUnavailable."""
        open_to_doubt = []
        for memory in memories:
            events = store.ledger.events(memory=parse_id(memory.id)) if memory.kind not in RECORDS else None
            if events and not any(event.data.get("anyway") is True or event.type == "reviewed" for event in events):
                open_to_doubt.append(memory)
        judged = zip(open_to_doubt, self.judge(open_to_doubt), strict=True)
        return [Swept(memory=memory, rule=against.rule, reason=against.reason) for memory, against in judged if against]


def demotion(kind: str, key: str | None, rule: str) -> dict[str, str]:
    """Return why something is an episode: its stated kind and key, so that a person can still make a belief of it, and
    the rule that refuses it."""
    return {"kind": kind, "rule": rule} | ({"key": key} if key else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """One memory that today's rules speak against. `rule`: secret, instruction, or one of RULES."""

    memory: Memory
    rule: str
    reason: str

    def as_dict(self) -> dict[str, object]:
        """Return {"id", "rule", "reason", "content", "kind", "origin"}; for a secret only its place."""
        memory = self.memory
        return {
            "id": memory.id, "rule": self.rule, "reason": self.reason, "content": redact(memory.content)[0],
            "kind": memory.kind, "origin": memory.origin,
        }  # fmt: skip


def set_right(writer: Writer, swept: Sequence[Swept]) -> None:
    """Turn memories that a rule refuses into episodes. A keyed one loses its key, and the value that it replaced holds
    again. One changed since is left alone."""
    from ..remember.review import merge

    for item in swept:
        raw = parse_id(item.memory.id)
        memory = writer.reads.memories.get(raw)
        if memory is None or memory.state != "active" or memory.content != item.memory.content:
            continue
        if memory.key and memory.superseded_by is None:
            for value in writer.reads.memories.keyed(memory.scope, memory.key):
                if value.superseded_by == memory.id:
                    writer.revive(parse_id(value.id), raw)
        mark = mark_of(replace(memory, kind="episode", key=None))
        same = writer.reads.memories.same_statement(memory.scope, mark, writer.now)
        if same is not None and merge(writer, same.id, memory.id, origin="agent") is not None:
            continue
        why = demotion(memory.kind, memory.key, item.rule)
        writer.event("edited", raw, origin="agent", content=memory.content, kind="episode", demoted=why)
