"""How much a session has to say about a question, pooled from what was found of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from .session_weights import SESSION_WEIGHTS

# The best sessions that others are compared with. docs/log.md; test_sessions.py.
COMPARED = 4


def parts(scores: Sequence[float], alike: float, *, floor: float) -> dict[str, float]:
    """What each part adds to a session's score, which is their sum.

    `scores`: of its memories that were found, in any order, at least one. `floor`: the lowest score of all that was
    found, which stands for a memory that it lacks. `alike`: how near the session is to the best others, -1 to 1.
    """
    best, second = (*sorted(scores, reverse=True)[:2], floor)[:2]
    values = {"best": best, "second": second, "alike": alike}
    return {name: SESSION_WEIGHTS[name] * value for name, value in values.items()}
