"""Whether a recall answers its question: log-odds of features of its best hits, with vectors and without.

Written by `python -m benchmarks.tune --write`, fitted on the tuning half of tests/quality/recall and on
LoCoMo's questions without an answer; guarded by tests/quality/test_recall.py.
"""

RELEVANCE: dict[str, float] = {
    "one": -4.0764,
    "absent": 1.9658,
    "both": 1.6726,
    "cosine": 1.955,
    "cosine_first": 0.3224,
    "cosine_lead": -2.9734,
    "coverage": -0.7802,
    "coverage_first": 2.3801,
    "first_by_meaning": -0.2865,
    "first_by_words": -0.8213,
    "keyed": -1.1043,
    "lead": 0.2829,
    "names": -1.2833,
    "other_script": -1.434,
    "other_script_coverage": 8.5694,
    "score": 0.0093,
    "share": 0.7083,
    "spoken": -0.8565,
    "unnamed": -2.7204,
    "words": 3.6416,
}
RELEVANCE_BY_WORDS: dict[str, float] = {
    "one": -3.1944,
    "absent": 1.1493,
    "coverage": -0.2655,
    "coverage_first": 2.6466,
    "first_by_words": 0.0118,
    "keyed": -0.6958,
    "lead": 0.15,
    "names": -1.109,
    "other_script": -2.3096,
    "other_script_coverage": 7.4852,
    "score": 0.0579,
    "share": 0.6496,
    "spoken": -1.3144,
    "unnamed": -2.3638,
    "words": 2.9585,
}
# Below these nothing relevant was found: 5 % of the answerable questions are, of projects left out
# of the fit, and of LoCoMo's.
RELEVANT, RELEVANT_BY_WORDS = 0.2231, 0.2197
