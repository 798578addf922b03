"""Whether a recall answers its question: log-odds of features of its best hits.

Written by `python -m benchmarks.tune --write`, fitted on the tuning half of tests/quality/recall and on
the written stores (training/written); guarded by tests/quality/test_recall.py.
"""

RELEVANCE_JUDGED: dict[str, float] = {
    "one": -7.2017,
    "absent": 3.0806,
    "both": -4.9079,
    "cosine": 15.6321,
    "cosine_first": 1.4581,
    "cosine_lead": -7.8733,
    "coverage": 4.0119,
    "coverage_first": 0.2578,
    "first_by_meaning": 0.1707,
    "first_by_words": -0.3136,
    "keyed": -1.5084,
    "lead": 0.2366,
    "names": -0.7168,
    "other_script": 1.5264,
    "other_script_coverage": 7.1715,
    "score": -0.0852,
    "share": 0.2894,
    "spoken": -0.0987,
    "unnamed": -2.4674,
    "words": 2.4707,
}
RELEVANCE: dict[str, float] = {
    "one": -7.2017,
    "absent": 3.0806,
    "both": -4.9079,
    "cosine": 15.6321,
    "cosine_first": 1.4581,
    "cosine_lead": -7.8733,
    "coverage": 4.0119,
    "coverage_first": 0.2578,
    "first_by_meaning": 0.1707,
    "first_by_words": -0.3136,
    "keyed": -1.5084,
    "lead": 0.2366,
    "names": -0.7168,
    "other_script": 1.5264,
    "other_script_coverage": 7.1715,
    "score": -0.0852,
    "share": 0.2894,
    "spoken": -0.0987,
    "unnamed": -2.4674,
    "words": 2.4707,
}
RELEVANCE_BY_WORDS: dict[str, float] = {
    "one": -3.4343,
    "absent": 2.4646,
    "coverage": 1.6932,
    "coverage_first": 2.1195,
    "first_by_words": -0.3915,
    "keyed": -0.3831,
    "lead": 0.1407,
    "names": -0.9302,
    "other_script": -2.2855,
    "other_script_coverage": 7.9369,
    "score": -0.0485,
    "share": 1.0867,
    "spoken": -1.0172,
    "unnamed": -1.296,
    "words": 3.2299,
}
# Below these nothing relevant was found: 5 % of the answerable questions are, of projects left out
# of the fit, and of written conversations'.
RELEVANT_JUDGED, RELEVANT, RELEVANT_BY_WORDS = 0.194, 0.194, 0.1965
