"""The content policy: what becomes no belief, which texts are worth a judgement, and who may overrule it.

A judgement embeds the text, some milliseconds where the model is loaded and half a second where it is not. So texts
that cannot be about a person are passed by their structure alone: nearly all that an agent stores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from ..model.errors import EmbedderUnavailable
from .validation import RECORDS, Demotion, ValidStatement, as_episode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..vectors.embedder import Embedder
    from .rules import Refusal, Rules


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


@cache
def _compiled() -> tuple[re.Pattern[str], ...]:
    return re.compile(r"\w+"), re.compile(_NAME), re.compile(_CODE)


def worth_judging(text: str, *, closely: bool) -> bool:
    """Whether a text could break a rule. `closely`: also texts that name no person.

    Runs at every write: words are looked up in sets, a tenth of the time that a pattern of all of them takes.
    """
    word, name, code = _compiled()
    lower = text.lower()
    words = set(word.findall(lower))
    if not words.isdisjoint(_PERSON) or any(mark in lower for mark in _LAUGHTER):
        return True
    if not words.isdisjoint(_AFTER_NAME) and name.search(text):
        return True
    return closely and not words.isdisjoint(_VERDICT) and not code.search(text)


def demotion(against: Refusal, kind: str, key: str | None) -> Demotion:
    return Demotion(kind=kind, key=key, rule=against.rule, reason=against.reason)


class ContentPolicy:
    """Judges statements with the store's embedder, when there is one whose prototypes are known."""

    def __init__(self, load: Callable[[], Embedder], is_loaded: Callable[[], bool]) -> None:
        self._load = load
        self._is_loaded = is_loaded
        self._rules: Rules | None = None
        self._unavailable = False

    def judged(self, statements: Sequence[ValidStatement]) -> list[ValidStatement]:
        """The statements as they may be stored: what a rule speaks against is kept as an episode, which says so."""
        return [
            one if against is None else as_episode(one, demotion(against, one.kind, one.key))
            for one, against in zip(statements, self._against(statements), strict=True)
        ]

    def _against(self, statements: Sequence[ValidStatement]) -> list[Refusal | None]:
        """The rule that each breaks; None where there is none, or nothing to judge with."""
        closely = self._is_loaded() and len(statements) == 1
        doubtful = [
            i
            for i, one in enumerate(statements)
            if not one.anyway and one.kind not in RECORDS and worth_judging(one.content, closely=closely)
        ]
        found: list[Refusal | None] = [None] * len(statements)
        rules = self.rules() if doubtful else None
        if rules is None:
            return found
        chosen = [statements[i] for i in doubtful]
        try:
            judged = rules.judge_many(
                [one.content for one in chosen],
                kinds=[one.kind for one in chosen],
                origins=[one.origin for one in chosen],
                speakers=[one.speaker for one in chosen],
            )
        except EmbedderUnavailable:
            return found
        for i, refusal in zip(doubtful, judged, strict=True):
            found[i] = refusal
        return found

    def rules(self) -> Rules | None:
        """None without an embedder, or with one that the rules were never measured with."""
        if self._rules is None and not self._unavailable:
            from .rules import Rules, is_measured

            try:
                embedder = self._load()
            except EmbedderUnavailable:
                return None  # it may come later
            if is_measured(embedder):
                self._rules = Rules(embedder)
            else:
                self._unavailable = True
        return self._rules
