"""Whether a recall answers its question: log-odds of features of its best hits, with vectors and without.

Written by `python -m benchmarks.tune --write`, fitted on the tuning half of tests/quality/recall and on
the written stores (training/written); guarded by tests/quality/test_recall.py.
"""

RELEVANCE: dict[str, float] = {
    "one": -5.7645,
    "absent": 2.7639,
    "both": -0.4546,
    "cosine": 11.333,
    "cosine_first": -2.8764,
    "cosine_lead": -4.4153,
    "cosine_next": -0.4381,
    "coverage": 2.505,
    "coverage_first": 0.4015,
    "first_by_meaning": -0.032,
    "first_by_words": -0.7524,
    "keyed": -1.0883,
    "lead": 0.38,
    "names": -1.1378,
    "other_script": 0.0893,
    "other_script_coverage": 8.0818,
    "score": -0.0349,
    "share": -0.0955,
    "spoken": -0.6557,
    "unnamed": -3.1214,
    "words": 3.3064,
}
RELEVANCE_BY_WORDS: dict[str, float] = {
    "one": -3.8803,
    "absent": 2.0777,
    "coverage": 3.5386,
    "coverage_first": -0.0158,
    "first_by_words": -0.5462,
    "keyed": -1.4228,
    "lead": 0.2295,
    "names": -1.1115,
    "other_script": -2.2488,
    "other_script_coverage": 7.3704,
    "score": 0.0674,
    "share": 0.6512,
    "spoken": -1.0355,
    "unnamed": -2.3364,
    "words": 3.5785,
}
# Below these nothing relevant was found: 5 % of the answerable questions are, of projects left out
# of the fit, and of written conversations'.
RELEVANT, RELEVANT_BY_WORDS = 0.1964, 0.2009
