"""When the newer of two results answers a question for what holds now: log-odds, see recall/newer.py.

Written by `python -m benchmarks.tune --part newer --write`, fitted on 1419 pairs of results for
questions with a word for "now" in training/written; guarded by tests/quality/test_recency.py.
"""

NEWER: dict[str, float] = {
    "one": -7.8767,
    "behind": -0.0770,
    "behind_first": -0.0192,
    "cosine": 6.1061,
    "cosine_behind": -3.0045,
    "alike": 5.2731,
    "speaker_behind": -1.1110,
    "newer_and_nearer": 0.4408,
    "days": 0.9676,
}
# The probability from which on the newer one comes first.
REPLACES_FROM = 0.7
