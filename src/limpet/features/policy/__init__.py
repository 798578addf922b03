"""The content policy: what is no belief of anybody becomes an episode. Judged in the background, after a text has its
vector, and by the sweep.

A judgement compares vectors (`rules.py`). Texts that cannot be about a person are passed by their structure alone:
nearly all that an agent stores. What waits for its judgement stands in no section of a brief (`unjudged`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from ...model.dataclass import dataclass, replace
from ...model.errors import EmbedderUnavailable
from ...model.ids import parse_id
from ...model.memory import Memory
from ...remember.validation import RECORDS, ValidStatement
from ...remember.write import mark_of
from ...text.secrets import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np

    from ...remember.write import Writer
    from ...store import Store
    from ...vectors.embedder import Embedder
    from .rules import Rules

# What somebody likes or aims for stands in briefs at once.
AT_ONCE = frozenset({"preference", "goal"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Speaks of a person or laughs. Of the sentences that the rules refuse, 94 % do; of technical ones, 25 %.
_PERSON = _words(
    "i my me we us our he she him her his hers they them their user users customer client boss manager colleague team"
    " people everyone everybody someone somebody guy man woman wife husband mother father friend"
)
_LAUGHTER = ("lol", "haha", "rofl", "jok", "😂", "🤣", "😅", "!", "ㅋㅋ", "ㅎㅎ")
_NAME = r"\b[A-Z][a-z]+(?:'s)? (?:is|was|seems|must|has|had|can't|never|always|feels|got|probably|looks)\b"
_AFTER_NAME = _words("is was seems must has had can never always feels got probably looks")
# Or says how something is and names nothing technical: 99 % and 46 %.
_VERDICT = _words(
    "is are was were can could must seem seems probably literally nobody than feeling so too like happen happens never"
    " always"
)
_CODE = r"[_/`={}<>$]|\w\.\w|\(\)|\d|[a-z][A-Z]|\b[A-Z]{2,}\b"


def worth_judging(text: str, *, closely: bool) -> bool:
    """Return whether a text could break a rule. `closely`: also consider texts that name no person.

    Words are looked up in sets, a tenth of the time that a pattern of all of them takes.
    """
    lower = text.lower()
    words = set(re.findall(r"\w+", lower))
    if not words.isdisjoint(_PERSON) or any(mark in lower for mark in _LAUGHTER):
        return True
    if not words.isdisjoint(_AFTER_NAME) and re.search(_NAME, text):
        return True
    return closely and not words.isdisjoint(_VERDICT) and not re.search(_CODE, text)


class ContentPolicy:
    """The rules with the store's embedder, when there is one whose prototypes are known."""

    def __init__(self, load: Callable[[], Embedder]) -> None:
        self._load = load
        self._rules: Rules | None = None
        self._unavailable = False

    def rules(self) -> Rules | None:
        """Return the rules; None without an embedder, or with one that they were never measured with."""
        if self._rules is None and not self._unavailable:
            from .rules import Rules, vectors_file

            try:
                embedder = self._load()
            except EmbedderUnavailable:
                return None  # it may come later
            if vectors_file(embedder).is_file():
                self._rules = Rules(embedder)
            else:
                self._unavailable = True
        return self._rules

    @staticmethod
    def unjudged(store: Store, rows: list[int]) -> list[int]:
        """Return those of the rows that speak of a person and wait for a judgement."""
        waiting = store.jobs.unchecked(rows)
        at_once = (*RECORDS, *AT_ONCE)
        return [
            num
            for num, one in zip(waiting, store.memories.by_rows(waiting), strict=True)
            if one.trust != "user" and one.kind not in at_once and worth_judging(one.content, closely=False)
        ]

    def judged(self, statements: Sequence[ValidStatement]) -> list[ValidStatement]:
        """Return the statements as a background run may store them: what a rule speaks against is an episode."""
        stated, rules = list(statements), self.rules()
        doubtful = [i for i, one in enumerate(stated) if worth_judging(one.content, closely=False)]
        if rules is None or not doubtful:
            return stated
        with suppress(EmbedderUnavailable):
            judged = rules.judge([stated[i] for i in doubtful])
            for i, against in zip(doubtful, judged, strict=True):
                if against is not None:
                    why = demotion(stated[i].kind, stated[i].key, against.rule)
                    stated[i] = replace(stated[i], kind="episode", key=None, demoted=why)
        return stated

    def demote(
        self, store: Store, memories: Sequence[Memory], write: Callable[[Callable[[Writer], None]], object],
        vectors: Mapping[str, np.ndarray], fingerprint: str,
    ) -> set[str]:  # fmt: skip
        """Turn the memories that a rule refuses into episodes. Return their ids.

        `write`: runs a function in a transaction of its own. `vectors`: of some texts, by the embedder of
        `fingerprint`. Raises EmbedderUnavailable.
        """
        rules = self.rules()
        if rules is None:
            return set()
        doubtful = [one for one in memories if worth_judging(one.content, closely=True)]
        against = judge(store, rules, doubtful, vectors if rules.fingerprint == fingerprint else None)
        for item in against:
            write(lambda writer: set_right(writer, [item]))  # noqa: B023
        return {one.memory.id for one in against}


def demotion(kind: str, key: str | None, rule: str) -> dict[str, str]:
    """Return why something is an episode: its stated kind and key, so that a person can still make a belief of it, and
    the rule that refuses it."""
    return {"kind": kind, "rule": rule} | ({"key": key} if key else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """One memory that today's rules speak against. `rule`: secret, instruction, or one of rules.RULES."""

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


def judge(
    store: Store, rules: Rules, memories: Sequence[Memory], vectors: Mapping[str, np.ndarray] | None = None
) -> list[Swept]:
    """Return the memories that a rule refuses, without those about which a person decided.

    `vectors`: of some texts, by the embedder of the rules, float32 of length 1. Raises EmbedderUnavailable.
    """
    open_to_doubt = []
    for memory in memories:
        events = store.ledger.events(memory=parse_id(memory.id)) if memory.kind not in RECORDS else None
        if events and not any(event.data.get("anyway") is True or event.type == "reviewed" for event in events):
            open_to_doubt.append(memory)
    judged = rules.judge(open_to_doubt, vectors)
    return [
        Swept(memory=one, rule=against.rule, reason=against.reason)
        for one, against in zip(open_to_doubt, judged, strict=True)
        if against is not None
    ]


def set_right(writer: Writer, swept: Sequence[Swept]) -> None:
    """Turn memories that a rule refuses into episodes. A keyed one loses its key, and the value that it replaced holds
    again. One changed since is left alone."""
    from ...remember.review import merge

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
