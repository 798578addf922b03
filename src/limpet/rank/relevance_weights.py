"""Whether a recall answers its question: log-odds of features of its best hits, with vectors and without.

Written by `python -m benchmarks.tune --write`, fitted on the tuning half of tests/quality/recall and on
the written stores (training/written); guarded by tests/quality/test_recall.py.
"""

RELEVANCE: dict[str, float] = {
    "one": -6.0861,
    "absent": 2.5729,
    "both": -3.969,
    "cosine": 14.9299,
    "cosine_first": -0.2445,
    "cosine_lead": -7.5615,
    "coverage": 4.1282,
    "coverage_first": -0.4688,
    "first_by_meaning": -0.1668,
    "first_by_words": -0.4717,
    "keyed": -1.2335,
    "lead": 0.2798,
    "names": -1.0216,
    "other_script": 1.0233,
    "other_script_coverage": 7.5831,
    "score": -0.1004,
    "share": 0.8672,
    "spoken": -0.795,
    "unnamed": -2.1656,
    "words": 2.3648,
}
RELEVANCE_BY_WORDS: dict[str, float] = {
    "one": -3.3316,
    "absent": 2.4581,
    "coverage": 3.6068,
    "coverage_first": 0.0427,
    "first_by_words": -0.4556,
    "keyed": -1.3274,
    "lead": 0.1993,
    "names": -0.9681,
    "other_script": -2.4488,
    "other_script_coverage": 7.3751,
    "score": -0.0288,
    "share": 0.9669,
    "spoken": -1.0366,
    "unnamed": -1.5128,
    "words": 3.1587,
}
# Below these nothing relevant was found: 5 % of the answerable questions are, of projects left out
# of the fit, and of written conversations'.
RELEVANT, RELEVANT_BY_WORDS = 0.1801, 0.2291
