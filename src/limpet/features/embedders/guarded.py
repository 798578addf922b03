"""An embedder of others as the core wants one: its vectors checked, its cosines measured, its slowness bounded."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ...model.errors import EmbedderUnavailable, LimpetError
from ...vectors.calibration import FITTED, Calibration

if TYPE_CHECKING:
    import numpy as np

    from ...vectors.embedder import Embedder

T = TypeVar("T")
# An embedder that is overloaded is asked again so often, if it says that it wants no longer wait.
RETRIES, LONGEST_WAIT_SECONDS = 2, 20.0
# A vector that was unit length before it was rounded to float16 is this near it still, and stays as it is.
UNIT_WITHIN = 1e-3
# A question's answer is this much nearer than other texts, two texts this much apart: or else the embedder does not
# read what it is measured on (it may be one for code, or for another language), and its cosines stay as they are.
LEAST = 0.02
PAIRS = Path(__file__).parent / "calibration_pairs.tsv"
# By an embedder's identity, the last thread that worked for a recall, which may have gone on without it.
_busy: dict[int, threading.Thread] = {}
_lock = threading.Lock()


class Overloaded(EmbedderUnavailable):
    """An error: the embedder asks to be called again later."""

    retry_seconds = 1.0


class GuardedEmbedder:
    """An embedder that gives unit vectors or raises. Thread-safe, as the one inside has to be."""

    def __init__(self, embedder: Embedder, *, until: float | None = None, measured: list[Calibration] | None = None):
        """Wait no longer than `until`, on the monotonic clock; None: wait, also for an overloaded embedder."""
        self._embedder, self._until = embedder, until
        self._measured: list[Calibration] = [] if measured is None else measured  # shared by all of one embedder
        self.name = embedder.name
        self.latin_only: bool = getattr(embedder, "latin_only", False)
        self.judges: bool = getattr(embedder, "judges", False)
        self.is_local: bool = getattr(embedder, "is_local", True)

    def by(self, until: float) -> GuardedEmbedder:
        """Return the same embedder for a recall that does without what takes longer."""
        return GuardedEmbedder(self._embedder, until=until, measured=self._measured)

    @property
    def fingerprint(self) -> str:
        return self._ask(lambda: self._embedder.fingerprint)

    @property
    def dimensions(self) -> int:
        return self._ask(lambda: self._embedder.dimensions)

    def load(self) -> None:
        """Load the embedder if it has anything to load. Raises EmbedderUnavailable."""
        self._ask(getattr(self._embedder, "load", lambda: None))

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 (n, dimensions), rows of length 1. Raises ValueError and the embedder's error: a bad text.

        An array of another shape is returned as it is: the caller knows which one belongs.
        """
        import numpy as np

        vectors = np.asarray(self._in_time(lambda: self._embedder.embed_passages(texts)), dtype=np.float32)
        return unit_rows(vectors) if vectors.ndim == 2 else vectors

    def embed_query(self, text: str) -> np.ndarray:
        """Return float32 (dimensions,), of length 1. Raises EmbedderUnavailable, whatever the embedder raises."""
        return self._ask(lambda: self._query(text))

    def _query(self, text: str) -> np.ndarray:
        import numpy as np

        made = self._embedder.embed_query(text)
        vector, dimensions = np.asarray(made, dtype=np.float32), self._embedder.dimensions
        if vector.shape != (dimensions,):
            raise EmbedderUnavailable(f"{self.name}: embed_query gave no {dimensions} numbers, but {made!r:.60}")
        try:
            unit: np.ndarray = unit_rows(vector[None, :])[0]
        except ValueError:
            raise EmbedderUnavailable(
                f"{self.name}: embed_query gave a vector without a direction, {made!r:.60}"
            ) from None
        return unit

    @property
    def calibration(self) -> Calibration | None:
        """The embedder's own calibration, or the one measured in this process."""
        stated = getattr(self._embedder, "calibration", None)
        return next(iter(self._measured), None) if stated is None else Calibration(*stated)

    def calibrated(self) -> Calibration:
        """Return the calibration, measured now if need be; if a recall cannot wait for it, a later one has it."""

        def measure() -> Calibration:
            self._measured[:] = [measured(self._embedder)]
            return self._measured[0]

        return self.calibration or self._in_time(measure)

    def _ask(self, work: Callable[[], T]) -> T:
        """Return what `work` does. Raises EmbedderUnavailable, whatever the embedder raises."""
        try:
            return self._in_time(work)
        except LimpetError:
            raise
        except Exception as error:
            raise EmbedderUnavailable(f"{self.name}: {type(error).__name__}: {error}") from error

    def _in_time(self, work: Callable[[], T]) -> T:
        """Return what `work` does, or raise what it raises; EmbedderUnavailable when it is late."""
        if self._until is None:
            return _patiently(work)
        if self._until == math.inf:
            return work()
        return self._within(self._until - time.monotonic(), work)

    def _within(self, seconds: float, work: Callable[[], T]) -> T:
        if seconds <= 0:
            raise self._late("the deadline leaves no time for it")
        result = Future[T]()

        def run() -> None:
            try:
                result.set_result(work())
            except BaseException as error:  # raised again by who waits
                result.set_exception(error)

        mark = id(self._embedder)
        with _lock:
            before = _busy.get(mark)
            if before is not None and before.is_alive():
                raise self._late("it is still busy with an earlier recall")
            thread = _busy[mark] = threading.Thread(target=run, name="limpet-beside", daemon=True)
            thread.start()
        thread.join(seconds)
        if thread.is_alive():
            raise self._late("the deadline came before it had answered")
        return result.result()

    def _late(self, why: str) -> EmbedderUnavailable:
        return EmbedderUnavailable(f"{self.name}: {why}", hint="`limpet work` waits for it")


def _patiently(work: Callable[[], T]) -> T:
    """Return what `work` does, tried again after the time that an overloaded embedder asks for."""
    for _ in range(RETRIES):
        try:
            return work()
        except Overloaded as error:
            if error.retry_seconds > LONGEST_WAIT_SECONDS:
                raise
            wait = error.retry_seconds
        time.sleep(wait)
    return work()


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Bring rows of any numbers to length 1. Raises ValueError for one that is not finite or all zeros."""
    import numpy as np

    with np.errstate(all="ignore"):
        lengths: Any = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1))
        if not (np.isfinite(lengths) & (lengths > 1e-6)).all():
            raise ValueError("a vector that is not finite, or all zeros, has no direction")
        by = np.where(np.abs(lengths - 1) <= UNIT_WITHIN, 1.0, lengths)
        return (vectors / by[:, None]).astype(np.float32)


# -- how its cosines lie, measured on questions and answers (vectors/calibration.py says what for)


def pairs() -> list[tuple[str, str]]:
    """Read questions and their answers: what agents remember and are asked. Written for this; of no data set."""
    lines = PAIRS.read_text(encoding="utf-8").splitlines()
    return [(question, answer) for question, _, answer in (line.partition("\t") for line in lines)]


def measured(embedder: Embedder) -> Calibration:
    """Embed each question and each answer. Raises what the embedder raises, and ValueError."""
    import numpy as np

    questions, answers = zip(*pairs(), strict=True)
    at_once = getattr(embedder, "embed_queries", None)
    asked = at_once(questions) if at_once is not None else [embedder.embed_query(question) for question in questions]
    query, passage = (
        unit_rows(np.asarray(made, dtype=np.float32).reshape(len(questions), -1))
        for made in (asked, embedder.embed_passages(answers))
    )
    cosines, own = query @ passage.T, np.eye(len(questions), dtype=bool)
    means = cosines[~own].mean(), cosines[own].mean(), (passage @ passage.T)[~own].mean()
    result = Calibration(*(round(float(mean), 6) for mean in means))
    return result if result.related - result.unrelated >= LEAST and 1 - result.apart >= LEAST else FITTED
