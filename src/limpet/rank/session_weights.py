"""Weights of a session's values, written by `python -m benchmarks.tune --part sessions --write`.

Fitted on the questions of: locomo dev, longmemeval dev; guarded by tests/unit/test_rank.py.
"""

SESSION_WEIGHTS: dict[str, float] = {
    "best": 0.84,
    "second": 0.06,
    "together": 9.32,
    "alike": 3.05,
}
