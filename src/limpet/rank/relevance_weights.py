"""Whether a recall answers its question: log-odds of features of its best hits.

Written by `python -m benchmarks.tune --write`, fitted on the tuning half of tests/quality/recall and on
the written stores (training/); guarded by tests/quality/test_recall.py.
"""

RELEVANCE_JUDGED: dict[str, float] = {
    "one": -0.8596,
    "absent": 2.2909,
    "both": -9.1006,
    "cosine": 8.7027,
    "cosine_first": 3.5368,
    "cosine_lead": -3.6754,
    "coverage": 3.2898,
    "coverage_first": 0.0308,
    "few": 2.0145,
    "first_by_meaning": -0.1781,
    "first_by_words": -0.4404,
    "judge": 0.607,
    "judge_first": 0.1491,
    "judge_lead": -0.0952,
    "keyed": -0.5971,
    "lead": 0.2861,
    "names": -0.6943,
    "other_script": -13.6704,
    "other_script_coverage": 37.5049,
    "score": -0.1981,
    "share": -2.1333,
    "spoken": -0.0267,
    "unnamed": -0.2861,
    "words": 1.0562,
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
RELEVANT_JUDGED, RELEVANT, RELEVANT_BY_WORDS = 0.1831, 0.1927, 0.2171
