"""Weights of a session's parts, written by `python -m benchmarks.tune --part sessions --write`: see there for the procedure.

Fitted on the questions of: locomo dev, longmemeval dev; guarded by tests/unit/test_rank.py.
"""

SESSION_WEIGHTS: dict[str, float] = {
    "best": 0.99,
    "second": 0.07,
    "alike": 4.36,
}
