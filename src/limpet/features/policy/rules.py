"""The five rules against biased memories, each a class of sentences described by prototypes.

A sentence is compared with the prototypes by the vectors of an embedder and a few structural signs; a ridge regression
over a kernel of that similarity weighs them. The prototypes are in benchmarks/prototypes.json; what
`benchmarks.tune --part rules` makes of them comes with the package. Nothing open-ended is listed as words. Secrets are
not asked for here (`text/secrets.py`). Nothing is lost by a refusal: the text is an episode, and a person may make a
belief of it. No NumPy at import.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ...model.dataclass import NamedTuple, dataclass
from ...remember.validation import RECORDS

if TYPE_CHECKING:
    import numpy as np

    from ...model.memory import Memory
    from ...remember.validation import ValidStatement
    from ...vectors.embedder import Embedder

REASONS: dict[str, str] = {
    "passing emotion": "It records a mood of the moment, which is no longer true tomorrow.",
    "joke or hyperbole": "It is a joke or an exaggeration, and would be recalled as if it were a fact.",
    "guess about a mind": "It guesses what a person thinks or intends from how they behave.",
    "inferred status": "It infers a person's health, money or relationships, which they have not stated themselves.",
    "personality label": "It labels a person's character, which they have not stated of themselves.",
}
RULES = tuple(REASONS)
# What a person may always state of themself.
OWN_TO_STATE = frozenset({"inferred status", "personality label"})

# Chosen on the tuning half of tests/quality/bias_sentences.jsonl by `benchmarks.tune --part rules`; guarded by
# tests/quality/test_bias_rules.py.
# Score, 0 to 1, from which a rule speaks against a sentence on an agent's user ("The user is ..."), and against any
# other one. The others are mostly conversation and facts on people's lives, nearly all of them fair: there a rule must
# be clearer, most of all where oddness or a hedge ("I guess") is all that speaks against it.
ABOUT_THE_USER_FROM = 0.5
REFUSED_FROM: dict[str, float] = {
    "passing emotion": 0.52,
    "joke or hyperbole": 0.55,
    "guess about a mind": 0.55,
    "inferred status": 0.52,
    "personality label": 0.52,
}
# How much a sign counts against the meaning, whose vector has length 1.
SIGN_WEIGHT = 0.3
KERNEL_POWER = 4
# A text of a few sentences is judged by each: nothing that one of them states may be lost for the mood of another. What
# is said of the user, or labels or infers clearly, counts alone: it is no less wrong for what stands beside it.
ALONE_FROM = 0.6
PARTS = 5
# A greeting, thanks, a cry: so few words that they state nothing.
STATEMENT_WORDS = 4
# A joke has so many words, and no figures: what is longer or counts something states a fact in a droll way.
JOKE_WORDS = range(4, 16)
# Prototypes that are compared at once.
BLOCK = 1_000
JUDGED_CHARACTERS = 2_000

_FIGURE = re.compile(r"\d")
# A line of code, a comment or a command, and a piece of a sentence or of a transcript: no statement, and odd as a
# joke is.
_PIECE = re.compile(
    r"^\s*(?:[#$%;<>|\\/=({]|--|\*/|(?:and|but|so|because|cuz|cause|that|if|or|which|where)\b)|[{}]|[,;:\\(=]\s*$"
    r"|\b(?:and|but|or|an?|the|of|to|is|are|be|in|for|with|that|we|i|my|our|their|what|his|they|all)\s*$"
)
# What jokes and exaggerations are made of: comparisons, absolutes, what would be, people, laughter.
_DROLL = re.compile(
    r"\b(?:than|(?:like|as) (?:an?|the|if)|as \w+ as|so \w+ (?:that|it|i|you|we|he|she)|literally"
    r"|every(?:body|one|thing)|nobody|forever|ever|never|only|whole|history|world|universe|(?!\w*(?:test|latest)\b)\w{3,}est"
    r"|\w+illions?|thousands?|i'd|i would|(?:i|we|you|he|she)(?:'ll| will| would)|until|user|he|she|his|her|our"
    r"|lol|jok\w+|(?:ha){2,9})\b",
    re.IGNORECASE,
)
DROLL_FROM = 0.7
# Structural signs of a sentence beside its meaning: who speaks, of whom, how surely. Closed classes only,
# and a few more coordinates of its vector: none decides alone, except that nobody is kept from stating something of
# themself. Name -> pattern. What is open-ended (feelings, traits, illnesses) is listed nowhere: prototypes stand for
# it.
SIGNS: dict[str, str] = {
    "of oneself": r"\b(?:i am|i'm|i have|i've|i live|i earn|my)\b",
    "as stated": (
        r"\b(?:said|says|told|states?|stated|mentioned|explicitly|describes?|described|confirmed|shared|disclosed|wrote|"
        r"asked (?:me|us|the|to)|reported|calls? (?:him|her|them)sel\w+|according to|own account|identifies|explained|"
        r"admits?|admitted|noted|informed|self-(?:described|declared|reported)|by (?:his|her|their) own)\b"
    ),
    "hedged": (
        r"\b(?:probably|likely|seems?|seemed|apparently|appears?|must|might|maybe|perhaps|presumably|judging|suggests?|"
        r"i (?:guess|think|suspect|assume|suppose|infer|conclude)|looks like|sounds like|obviously|secretly|evidently|"
        r"clearly|shows?|given|so (?:he|she|they))\b"
    ),
    "of a person": r"\b(?:user|he|she|his|her|they|him|i|my|me|customer|client|boss|manager|colleague|team)\b",
    "laughter": r"\b(?:lol|(?:ha){1,9}|rofl|jok(?:e[sd]?|ing|ingly)|laughing|laughingly)\b|[😂🤣😅]|ㅋㅋ|ㅎㅎ",
    "question": r"\?\s*$",
    "of the user": r"^(?:the )?user(?!')\b",
    "is a": r"\b(?:is|are|was) (?:an? |very |too |not )?\w+",
}
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)|\n+")
VECTORS = Path(__file__).parent / "prototype_vectors"


class Refusal(NamedTuple):
    """A reason for not storing a sentence."""

    rule: str  # one of RULES
    score: float  # 0 to 1

    @property
    def reason(self) -> str:
        """One sentence for a person."""
        return REASONS[self.rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The prototypes in the space of one embedder. n prototypes, d dimensions, s signs, c classes: fine, then RULES."""

    middle: np.ndarray  # float32 (d,): the mean of all vectors, taken off each
    points: np.ndarray  # float32 (n, d + s)
    weights: np.ndarray  # float32 (n, c)
    languages: tuple[str, ...]  # that are judged; texts in others are let through


class Rules:
    """A judge of texts with one of the embedders whose prototypes' vectors come with the package. Thread-safe."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.fingerprint = embedder.fingerprint
        self._fitted: Fitted | None = None

    def judge(
        self, stated: Sequence[Memory | ValidStatement], vectors: Mapping[str, np.ndarray] | None = None
    ) -> list[Refusal | None]:
        """Return for each statement the rule that it breaks, or None, in order.

        `vectors`: of some texts, float32 (dimensions,), where the caller has embedded them. Raises EmbedderUnavailable.
        """
        # Longer texts are documents and transcripts, and of more than a few sentences some always say what lasts.
        sentences = {
            i: parts
            for i, how in enumerate(stated)
            if how.kind not in RECORDS and how.content.strip() and len(how.content) <= JUDGED_CHARACTERS
            if len(parts := [one for one in _SENTENCE_END.split(how.content) if one.strip()]) <= PARTS
        }
        refusals: list[Refusal | None] = [None] * len(stated)
        against = self._refusals(dict.fromkeys(one for parts in sentences.values() for one in parts), vectors or {})
        for i, parts in sentences.items():
            allowed = [_allowed(against[one], one, stated[i]) for one in parts]
            # What speaks against all that state something, or clearly against one.
            broken = [(refusal, one) for refusal, one in zip(allowed, parts, strict=True) if refusal]
            if any(refusal is None and _says_something(one) for refusal, one in zip(allowed, parts, strict=True)):
                broken = [pair for pair in broken if _clear(*pair)]
            refusals[i] = max((refusal for refusal, _ in broken), key=lambda refusal: refusal.score, default=None)
        return refusals

    def _refusals(self, texts: Iterable[str], known: Mapping[str, np.ndarray]) -> dict[str, Refusal | None]:
        """Return the refusal of each sentence, judged alone, or None. `known`: the vectors of some."""
        import numpy as np

        texts = list(texts)
        if not texts:
            return {}
        new = [text for text in texts if text not in known]
        vectors = {**known, **(dict(zip(new, self._embedder.embed_passages(new), strict=True)) if new else {})}
        refusals: dict[str, Refusal | None] = {}
        for text, row in zip(texts, self._scores(texts, np.array([vectors[text] for text in texts])), strict=True):
            worst = int(row.argmax())
            least = ABOUT_THE_USER_FROM if has_sign("of the user", text) else REFUSED_FROM[RULES[worst]]
            refusals[text] = None if row[worst] < least else Refusal(RULES[worst], round(float(row[worst]), 3))
        return refusals

    def _scores(self, texts: Sequence[str], vectors: np.ndarray) -> np.ndarray:
        import numpy as np

        fitted = self._fit()
        points = points_of(signs_of(texts), vectors, fitted.middle)
        # In blocks that linear algebra multiplies in this thread: waking others costs more than the product.
        blocks = [fitted.points[start : start + BLOCK] for start in range(0, len(fitted.points), BLOCK)]
        near = np.hstack([points @ block.T for block in blocks])
        belongs = (1 + near) ** KERNEL_POWER @ fitted.weights
        scores: np.ndarray = np.clip((belongs[:, 1:] - belongs[:, :1] + 2) / 4, 0, 1)
        return scores

    def languages(self) -> tuple[str, ...]:
        """Return the languages that are judged; texts in others are let through."""
        return self._fit().languages

    def _fit(self) -> Fitted:
        if self._fitted is None:
            self._fitted = _read(vectors_file(self._embedder))
        return self._fitted


def vectors_file(embedder: Embedder) -> Path:
    """Return the file of the prototypes' vectors and weights by an embedder, if the rules were measured with it."""
    safe = "".join(letter if letter.isalnum() else "-" for letter in embedder.name)
    return VECTORS / f"{safe}-{sha256(embedder.fingerprint.encode()).hexdigest()[:12]}.npz"


@cache  # the same for every store that a process opens
def _read(path: Path) -> Fitted:
    import numpy as np

    with np.load(path) as stored:
        vectors = stored["codes"].astype(np.float32) * stored["scales"][:, None]
        middle = vectors.mean(axis=0)
        points = points_of(stored["signs"], vectors, middle)
        return Fitted(
            middle=middle, points=points, weights=stored["weights"], languages=tuple(stored["languages"].tolist())
        )


def points_of(signs: np.ndarray, vectors: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Return vectors centred and of length 1, with the signs beside them: float32 (n, d + s)."""
    import numpy as np

    around = np.asarray(vectors, dtype=np.float32) - middle
    around /= np.maximum(np.linalg.norm(around, axis=1, keepdims=True), 1e-6)
    return np.hstack([around, SIGN_WEIGHT * signs.astype(np.float32)])


def signs_of(texts: Sequence[str]) -> np.ndarray:
    """Return which of SIGNS each text has: bool (n, s)."""
    import numpy as np

    return np.array([[has_sign(name, text) for name in SIGNS] for text in texts], dtype=bool).reshape(-1, len(SIGNS))


def has_sign(name: str, text: str) -> bool:
    """Return whether a text has one of SIGNS. Linear in its length."""
    return re.search(SIGNS[name], text, re.IGNORECASE) is not None


def _clear(refusal: Refusal, sentence: str) -> bool:
    return refusal.score >= ALONE_FROM and (refusal.rule in OWN_TO_STATE or has_sign("of the user", sentence))


def _says_something(sentence: str) -> bool:
    """Return whether a text is more than a greeting, thanks or a cry; with a figure it always is."""
    return len(sentence.split()) >= STATEMENT_WORDS or bool(_FIGURE.search(sentence))


def _allowed(refusal: Refusal | None, text: str, stated: Memory | ValidStatement) -> Refusal | None:
    """Return the refusal, or None for a question, a speaker to whom the rule does not apply, and a text too short."""
    if refusal is None or has_sign("question", text) or _PIECE.search(text):
        return None
    user = has_sign("of the user", text)
    # Somebody says it of themself, in the first person, and not an agent guessing about another.
    own = has_sign("of oneself", text) and not has_sign("hedged", text) and not user
    if refusal.rule in OWN_TO_STATE and own and (stated.origin != "web" or stated.speaker is not None):
        return None
    if refusal.rule == "joke or hyperbole":
        # What resembles nothing, such as "said by us" or a line of a manual, resembles a joke too.
        droll = _DROLL.search(text) is not None
        whole = text.lstrip(" \"'\u201c\u2018")[:1].isupper() or droll
        short = len(text.split()) in JOKE_WORDS and not _FIGURE.search(text)
        return refusal if short and whole and (droll or refusal.score >= DROLL_FROM or user) else None
    return refusal
