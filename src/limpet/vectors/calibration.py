"""How an embedder's cosines lie, so that what was chosen with one embedder holds for another.

A text that has nothing to do with a question has a cosine of 0.05 with it by one embedder and of 0.76 by another, its
answer one of 0.47 and 0.82. Ranking has to know how near a text is, not what an embedder calls it: cosines are moved
and stretched to the scale (FITTED) on which weights and thresholds were chosen. What an embedder calls near is measured
on questions and answers, once, and kept in the store beside its vectors.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..model.dataclass import NamedTuple
from ..rank.constants import APART_COSINE, RELATED_COSINE, UNRELATED_COSINE

if TYPE_CHECKING:
    import numpy as np

    from ..store.records import EmbedderRow
    from .embedder import Embedder

    Cosine = TypeVar("Cosine", float, np.ndarray)


class Calibration(NamedTuple):
    """Mean cosines of an embedder."""

    unrelated: float  # of a question and a text that does not answer it
    related: float  # of a question and its answer
    apart: float  # of two texts that say different things; the same text twice has 1

    def of_question(self, cosines: np.ndarray) -> np.ndarray:
        """Move cosines of a question with texts (n,) to the fitted scale."""
        if self == FITTED:
            return cosines
        slope = (FITTED.related - FITTED.unrelated) / (self.related - self.unrelated)
        return FITTED.unrelated + (cosines - self.unrelated) * slope

    def of_texts(self, cosine: Cosine) -> Cosine:
        """Move a cosine of two texts to the fitted scale; of the same text twice it is 1."""
        return cosine if self == FITTED else 1 - (1 - cosine) * (1 - FITTED.apart) / (1 - self.apart)

    def threshold(self, cosine: float) -> float:
        """Return the cosine by this embedder that is `cosine` on the fitted scale: the inverse of `of_texts`."""
        return cosine if self == FITTED else 1 - (1 - cosine) * (1 - self.apart) / (1 - FITTED.apart)


# The scale on which all weights and thresholds were chosen, that of all-MiniLM-L6-v2. tests/unit/test_calibration.py.
FITTED = Calibration(UNRELATED_COSINE, RELATED_COSINE, APART_COSINE)
# A question's answer is this much nearer than other texts, two texts this much apart: or else the embedder does not
# read what it is measured on (it may be one for code, or for another language), and its cosines stay as they are.
LEAST = 0.02
PAIRS = Path(__file__).parent / "data" / "calibration_pairs.tsv"
# Questions and answers there: texts that the measurement embeds.
TEXTS = 80


def calibration_of(embedder: Embedder, row: EmbedderRow) -> Calibration:
    """What an embedder states itself, or what the store knows if the row is its own; else its cosines stay."""
    own = stated(embedder)
    if own is not None:
        return Calibration(*own)
    return stored(row) if row.fingerprint == embedder.fingerprint else FITTED


def stated(embedder: Embedder) -> tuple[float, float, float] | None:
    """What an embedder says of its own cosines, if it does."""
    return getattr(embedder, "calibration", None)


def stored(row: EmbedderRow) -> Calibration:
    """What the store knows of an embedder that may not be here."""
    return FITTED if row.calibration is None else Calibration(*row.calibration)


def pairs() -> list[tuple[str, str]]:
    """Questions and their answers: what agents remember and are asked. Written for this; of no data set."""
    lines = PAIRS.read_text(encoding="utf-8").splitlines()
    return [(question, answer) for question, _, answer in (line.partition("\t") for line in lines)]


def measured(embedder: Embedder) -> Calibration:
    """A run of the model for each question and each answer. Raises what the embedder raises, and ValueError."""
    import numpy as np

    from .codes import to_unit

    several = pairs()
    questions, passages = [question for question, _ in several], [answer for _, answer in several]
    at_once = getattr(embedder, "embed_queries", None)
    asked = at_once(questions) if at_once is not None else [embedder.embed_query(one) for one in questions]
    (answers, fit), (rows, fits) = (
        to_unit(np.asarray(made, dtype=np.float32).reshape(len(several), -1))
        for made in (embedder.embed_passages(passages), asked)
    )
    if not (fit.all() and fits.all()):
        raise ValueError("a vector has no direction")
    cosines = rows @ answers.T
    own = np.eye(len(several), dtype=bool)
    means = cosines[~own].mean(), cosines[own].mean(), (answers @ answers.T)[~own].mean()
    found = Calibration(*(round(float(mean), 6) for mean in means))
    return found if found.related - found.unrelated >= LEAST and 1 - found.apart >= LEAST else FITTED
