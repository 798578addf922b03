"""Weights of a session's values, written by `python -m benchmarks.tune --part sessions --write`.

Fitted on the questions of: longmemeval (149); guarded by tests/unit/test_rank.py.
"""

SESSION_WEIGHTS: dict[str, float] = {
    "best": 0.9033,
    "together": 4.5243,
    "alike": 3.9279,
}
