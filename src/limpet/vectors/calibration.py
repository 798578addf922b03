"""The scale of an embedder's cosines, so that constants chosen with one embedder hold for another.

A text that has nothing to do with a question has a cosine of 0.05 with it by one embedder and of 0.76 by another; its
answer 0.47 and 0.82. Ranking needs one scale: cosines are moved and stretched to that on which weights and thresholds
were chosen (FITTED). Each embedder's scale is measured on questions and answers, once, and kept in the store beside its
vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ..model.dataclass import NamedTuple
from ..rank.constants import APART_COSINE, RELATED_COSINE, UNRELATED_COSINE

if TYPE_CHECKING:
    import numpy as np

    from ..store.records import EmbedderRow

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
        return FITTED.unrelated + (cosines - self.unrelated) / self.stretch

    @property
    def stretch(self) -> float:
        """Return the length on the embedder's scale of a difference of 1 on the fitted one."""
        return (self.related - self.unrelated) / (FITTED.related - FITTED.unrelated)

    def of_texts(self, cosine: Cosine) -> Cosine:
        """Move a cosine of two texts to the fitted scale; of the same text twice it is 1."""
        return cosine if self == FITTED else 1 - (1 - cosine) * (1 - FITTED.apart) / (1 - self.apart)


# The scale on which all weights and thresholds were chosen, that of all-MiniLM-L6-v2. tests/unit/test_calibration.py.
FITTED = Calibration(UNRELATED_COSINE, RELATED_COSINE, APART_COSINE)
# Texts that are embedded to measure an embedder that does not state its own.
TEXTS = 80


def calibration_of(row: EmbedderRow) -> Calibration:
    """Return the calibration of an embedder's stored vectors; FITTED if it was never measured."""
    return FITTED if row.calibration is None else Calibration(*row.calibration)
