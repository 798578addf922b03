"""Weights of a session's values, written by `python -m benchmarks.tune --part sessions --write`.

Fitted on the questions of: locomo dev (996), longmemeval dev (149); guarded by tests/unit/test_rank.py.
"""

SESSION_WEIGHTS: dict[str, float] = {
    "best": 0.9326,
    "together": 6.6684,
    "alike": 3.1663,
}
