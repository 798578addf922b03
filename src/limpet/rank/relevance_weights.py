"""Whether a recall answers its question: log-odds of features of its best hits.

Written by `python -m benchmarks.tune --write`, fitted on the tuning half of tests/quality/recall and on
the written stores (training/); guarded by tests/quality/test_recall.py.
"""

RELEVANCE_JUDGED: dict[str, float] = {
    "one": -1.788,
    "absent": 2.1434,
    "both": -8.7403,
    "cosine": 7.4244,
    "cosine_first": 3.8157,
    "cosine_lead": -2.9531,
    "coverage": 2.6423,
    "coverage_first": -1.1459,
    "few": 1.9377,
    "first_by_meaning": -0.1624,
    "first_by_words": -0.2094,
    "judge": 0.4891,
    "judge_first": 0.1282,
    "judge_lead": -0.016,
    "keyed": -0.6221,
    "lead": 0.2796,
    "names": -0.892,
    "other_script": -14.489,
    "other_script_coverage": 38.1364,
    "score": -0.112,
    "share": -2.2388,
    "spoken": -0.4549,
    "unnamed": -0.3321,
    "words": 1.3878,
}
RELEVANCE: dict[str, float] = {
    "one": -7.216,
    "absent": 2.9646,
    "both": -4.8391,
    "cosine": 13.6554,
    "cosine_first": 2.0591,
    "cosine_lead": -7.6204,
    "coverage": 4.8779,
    "coverage_first": -0.7735,
    "first_by_meaning": 0.104,
    "first_by_words": -0.5622,
    "keyed": -1.5282,
    "lead": 0.2212,
    "names": -0.9065,
    "other_script": 1.4025,
    "other_script_coverage": 7.229,
    "score": -0.0705,
    "share": 1.0026,
    "spoken": -0.3209,
    "unnamed": -2.1307,
    "words": 2.708,
}
RELEVANCE_BY_WORDS: dict[str, float] = {
    "one": -3.4552,
    "absent": 2.4792,
    "coverage": 4.1571,
    "coverage_first": -0.8093,
    "first_by_words": -0.2723,
    "keyed": -1.1721,
    "lead": 0.185,
    "names": -0.9276,
    "other_script": -2.5319,
    "other_script_coverage": 7.5223,
    "score": -0.0237,
    "share": 0.9146,
    "spoken": -1.1078,
    "unnamed": -1.4581,
    "words": 3.2339,
}
# Below these nothing relevant was found: 5 % of the answerable questions are, of projects left out
# of the fit, and of written conversations'.
RELEVANT_JUDGED, RELEVANT, RELEVANT_BY_WORDS = 0.1706, 0.1927, 0.2171
