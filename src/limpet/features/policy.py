"""The content policy: what is no belief of anybody becomes an episode. Judged in the background, after a text has its
vector, by the organizer, and by the sweep.

The reader says of each sentence which of five rules speaks against it, and whether it is talk of the moment, in the
languages that it was taught. Nothing is lost: the text is an episode, and a person may make a belief of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from ..model.dataclass import NamedTuple, dataclass, replace
from ..model.errors import EmbedderUnavailable
from ..model.ids import parse_id
from ..model.memory import Memory
from ..remember.validation import RECORDS, ValidStatement
from ..remember.write import mark_of
from ..text.secrets import redact

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
# Said by two other outputs of the reader, from CLEARLY_FROM, of what nobody gave a kind or a key: "ship it" may be a
# goal, "on" a value. Of 5,300 notes by others 6 are taken for it, of 220 orders, thanks and questions 171.
TALK = "small talk or order"
REASONS[TALK] = "It is small talk, a question or an order of the moment, and nothing in it lasts."
# Probability of any rule from which a sentence is refused; and from which one of the user's is, or one beside others
# that may stay. Chosen on the tuning half of tests/quality/bias_sentences.jsonl.
REFUSED_FROM, CLEARLY_FROM = 0.65, 0.9
# What an agent labels or infers is no less wrong for what stands beside it.
ALONE = frozenset({"inferred status", "personality label"})
# Longer texts are documents and transcripts, and of more than a few sentences some always say what lasts.
PARTS, JUDGED_CHARACTERS = 5, 2_000
# Fewer words are a greeting, thanks, a cry: beside a refused sentence they state nothing.
STATEMENT_WORDS = 4
# Preferences, goals and what names nobody stand in briefs at once: on the command line the queue may wait for long.
AT_ONCE = frozenset({*RECORDS, "preference", "goal"})
_PERSON = frozenset({
    "i", "my", "me", "we", "us", "our", "he", "she", "him", "her", "his", "hers", "they", "them", "user", "users",
    "customer", "client", "boss", "manager", "colleague", "team", "people", "everyone", "everybody", "someone",
    "somebody", "guy", "man", "woman", "wife", "husband", "mother", "father", "friend",
})  # fmt: skip
_NAMED = r"\b[A-Z][a-z]+(?:'s)? (?:is|was|seems|must|has|had|can't|never|always|feels|got|probably|looks)\b"
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
        judged = dict(zip(texts, self._refusals(texts), strict=True))
        refusals: list[Refusal | None] = [None] * len(stated)
        for i, parts in sentences.items():
            least = CLEARLY_FROM if stated[i].origin == "user" else REFUSED_FROM
            said_as_it_is = stated[i].kind == "fact" and stated[i].key is None
            against = [
                max(
                    (refusal for refusal in judged[part, stated[i].speaker] if said_as_it_is or refusal.rule != TALK),
                    key=lambda refusal: refusal.score, default=None,
                )
                for part in parts
            ]  # fmt: skip
            broken = [refusal for refusal in against if refusal and refusal.score >= least]
            fair = [part for part, refusal in zip(parts, against, strict=True) if refusal not in broken]
            if any(len(part.split()) >= STATEMENT_WORDS for part in fair):
                broken = [refusal for refusal in broken if refusal.rule in ALONE and refusal.score >= CLEARLY_FROM]
            refusals[i] = max(broken, key=lambda refusal: refusal.score, default=None)
        return refusals

    def _refusals(self, texts: Sequence[tuple[str, str | None]]) -> list[list[Refusal]]:
        """Return what speaks against sentences with their speakers, each alone."""
        reader = self._load()
        readable = [reader.reads(text) for text, _ in texts]
        inputs = [
            ("", f"{speaker}: {text}" if speaker else text)
            for (text, speaker), fits in zip(texts, readable, strict=True)
            if fits
        ]
        answers = iter(reader.heads(inputs))
        refusals: list[list[Refusal]] = []
        for heads in (next(answers) if fits else None for fits in readable):
            refusals.append([])
            if heads is not None:
                rule = max(RULES, key=heads["rule"].__getitem__)
                talk = min(heads["worth"]["none"], heads["kept"]["no"])
                for name, score, least in ((rule, 1 - heads["rule"]["fine"], REFUSED_FROM), (TALK, talk, CLEARLY_FROM)):
                    if round(score, 3) >= least:
                        refusals[-1].append(Refusal(name, round(score, 3)))
        return refusals

    @staticmethod
    def unjudged(store: Store, rows: list[int]) -> list[int]:
        """Return those of the rows that wait for a judgement, and may stand in no section of a brief before it."""
        waiting = store.jobs.unchecked(rows)
        memories = store.memories.by_rows(waiting)
        return [
            num
            for num, memory in zip(waiting, memories, strict=True)
            if memory.trust != "user" and memory.kind not in AT_ONCE and _names_a_person(memory.content)
        ]

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


def _names_a_person(text: str) -> bool:
    return not _PERSON.isdisjoint(re.findall(r"\w+", text.lower())) or re.search(_NAMED, text) is not None


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
