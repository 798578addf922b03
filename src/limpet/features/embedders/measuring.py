"""How an embedder's cosines lie, measured on questions and answers (vectors/calibration.py says what for)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...vectors.calibration import FITTED, Calibration

if TYPE_CHECKING:
    from ...vectors.embedder import Embedder

# A question's answer is this much nearer than other texts, two texts this much apart: or else the embedder does not
# read what it is measured on (it may be one for code, or for another language), and its cosines stay as they are.
LEAST = 0.02
PAIRS = Path(__file__).parent / "calibration_pairs.tsv"


def pairs() -> list[tuple[str, str]]:
    """Read questions and their answers: what agents remember and are asked. Written for this; of no data set."""
    lines = PAIRS.read_text(encoding="utf-8").splitlines()
    return [(question, answer) for question, _, answer in (line.partition("\t") for line in lines)]


def measured(embedder: Embedder) -> Calibration:
    """Embed each question and each answer. Raises what the embedder raises, and ValueError."""
    import numpy as np

    from .guarded import unit_rows

    questions, answers = zip(*pairs(), strict=True)
    at_once = getattr(embedder, "embed_queries", None)
    asked = at_once(questions) if at_once is not None else [embedder.embed_query(one) for one in questions]
    query, passage = (
        unit_rows(np.asarray(made, dtype=np.float32).reshape(len(questions), -1))
        for made in (asked, embedder.embed_passages(answers))
    )
    cosines, own = query @ passage.T, np.eye(len(questions), dtype=bool)
    means = cosines[~own].mean(), cosines[own].mean(), (passage @ passage.T)[~own].mean()
    found = Calibration(*(round(float(mean), 6) for mean in means))
    return found if found.related - found.unrelated >= LEAST and 1 - found.apart >= LEAST else FITTED
