"""Whether a recall answers its question: log-odds of features of its best hits, with vectors and without.

Written by `python -m benchmarks.tune --write`, fitted on the tuning half of tests/quality/recall and on
the written stores (training/written); guarded by tests/quality/test_recall.py.
"""

RELEVANCE: dict[str, float] = {
    "one": -5.724,
    "absent": 2.8514,
    "both": -0.5382,
    "cosine": 8.8087,
    "cosine_first": -0.8047,
    "cosine_lead": -5.111,
    "coverage": 3.2269,
    "coverage_first": 0.0435,
    "first_by_meaning": 0.0394,
    "first_by_words": -0.9429,
    "keyed": -0.5728,
    "lead": 0.421,
    "names": -1.1083,
    "other_script": 0.0363,
    "other_script_coverage": 8.0847,
    "score": -0.0411,
    "share": -0.2526,
    "spoken": -0.5334,
    "unnamed": -2.6793,
    "words": 3.2428,
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
RELEVANT, RELEVANT_BY_WORDS = 0.2146, 0.2198
