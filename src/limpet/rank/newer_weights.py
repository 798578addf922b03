"""When the newer of two results answers a question for what holds now, as log-odds: see recall/newer.py.

Written by `python -m benchmarks.tune --part newer --write`, fitted on 1112 pairs of results for
questions with a word for "now" in training/written; guarded by tests/quality/test_recency.py.
"""

NEWER: dict[str, float] = {
    "one": -6.7792,
    "behind": 0.0301,
    "behind_first": -0.1408,
    "cosine": 1.9060,
    "cosine_behind": -4.0110,
    "alike": 4.8366,
    "speaker_behind": -2.4992,
    "newer_and_nearer": 0.3112,
    "days": 1.0772,
}
# From which probability on it comes first.
REPLACES_FROM = 0.7
