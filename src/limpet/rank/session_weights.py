"""Weights of a session's values, written by `python -m benchmarks.tune --part sessions --write`.

Fitted on the questions of: locomo dev (996), longmemeval dev (149); guarded by tests/unit/test_rank.py.
"""

SESSION_WEIGHTS: dict[str, float] = {
    "best": 0.8245,
    "together": 6.7296,
    "alike": 3.0194,
}
