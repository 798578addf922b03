"""When the newer of two results answers a question for what holds now: log-odds, see recall/newer.py.

Written by `python -m benchmarks.tune --part newer --write`, fitted on 1277 pairs of results for
questions with a word for "now" in training/written; guarded by tests/quality/test_recency.py.
"""

NEWER: dict[str, float] = {
    "one": -7.7908,
    "behind": -0.0721,
    "behind_first": -0.0586,
    "cosine": 5.7919,
    "cosine_behind": -1.9736,
    "alike": 5.3218,
    "speaker_behind": -1.0006,
    "newer_and_nearer": 0.3916,
    "days": 0.9434,
}
# From which probability on it comes first.
REPLACES_FROM = 0.7
