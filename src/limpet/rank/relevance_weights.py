"""Whether a recall answers its question: log-odds of features of its best hits, with vectors and without.

Written by `python -m benchmarks.tune --write`, fitted on the tuning half of tests/quality/recall and on
LoCoMo's questions without an answer; guarded by tests/quality/test_recall.py.
"""

RELEVANCE: dict[str, float] = {
    "one": -3.855,
    "absent": 1.3585,
    "both": 2.2805,
    "cosine": 1.2786,
    "cosine_first": 0.0501,
    "cosine_lead": -2.0433,
    "coverage": -0.9014,
    "coverage_first": 2.0502,
    "first_by_meaning": -0.4204,
    "first_by_words": -0.7009,
    "keyed": -0.8824,
    "lead": 0.2588,
    "names": -1.3463,
    "other_script": -1.0064,
    "other_script_coverage": 7.8867,
    "score": 0.0126,
    "share": 0.8366,
    "spoken": -0.7529,
    "unnamed": -2.8318,
    "words": 3.5894,
}
RELEVANCE_BY_WORDS: dict[str, float] = {
    "one": -3.3037,
    "absent": 0.9684,
    "coverage": 0.2193,
    "coverage_first": 2.378,
    "first_by_words": -0.0345,
    "keyed": -0.7987,
    "lead": 0.1636,
    "names": -1.1659,
    "other_script": -1.9692,
    "other_script_coverage": 7.1773,
    "score": 0.0801,
    "share": 0.1791,
    "spoken": -1.4069,
    "unnamed": -2.2359,
    "words": 2.9446,
}
# Below these nothing relevant was found: 5 % of the answerable questions are, of projects left out
# of the fit, and of LoCoMo's.
RELEVANT, RELEVANT_BY_WORDS = 0.2309, 0.2231
