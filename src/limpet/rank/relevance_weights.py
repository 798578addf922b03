"""Whether a recall answers its question: log-odds of features of its best hits, with vectors and without.

Written by `python -m benchmarks.tune --write`, fitted on the tuning half of tests/quality/recall and on
the written stores (training/written); guarded by tests/quality/test_recall.py.
"""

RELEVANCE: dict[str, float] = {
    "one": -4.8022,
    "absent": 3.1774,
    "both": 1.0199,
    "cosine": 8.8241,
    "cosine_first": -1.284,
    "cosine_lead": -5.3314,
    "cosine_next": -1.4168,
    "coverage": 1.3433,
    "coverage_first": 0.4185,
    "first_by_meaning": -0.0403,
    "first_by_words": -0.789,
    "keyed": -0.3673,
    "lead": 0.4381,
    "names": -1.0063,
    "other_script": -1.192,
    "other_script_coverage": 9.8139,
    "score": -0.0159,
    "share": -0.8829,
    "spoken": -0.5641,
    "unnamed": -2.2826,
    "words": 3.2231,
}
RELEVANCE_BY_WORDS: dict[str, float] = {
    "one": -3.3897,
    "absent": 2.5991,
    "coverage": 2.408,
    "coverage_first": 0.9007,
    "first_by_words": -0.484,
    "keyed": -1.3157,
    "lead": 0.2251,
    "names": -1.0226,
    "other_script": -2.5885,
    "other_script_coverage": 7.641,
    "score": -0.029,
    "share": 0.8588,
    "spoken": -1.0455,
    "unnamed": -1.9668,
    "words": 3.4747,
}
# Below these nothing relevant was found: 5 % of the answerable questions are, of projects left out
# of the fit, and of written conversations'.
RELEVANT, RELEVANT_BY_WORDS = 0.2251, 0.2198
