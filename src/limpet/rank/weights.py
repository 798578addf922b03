"""Weights of linear fusion, written by `python -m benchmarks.tune --write`: see there for the procedure.

Fitted on the questions of: locomo dev (759), longmemeval dev (149); guarded by tests/unit/test_rank.py.
"""

WEIGHTS: dict[str, float] = {
    "lexical": 1.4532,
    "coverage": 6.2118,
    "fields": 13.8463,
    "vector": 7.3361,
    "lexical_previous": -0.0137,
    "lexical_next": -2.1552,
    "lexical_around": 1.091,
    "vector_previous": -0.7584,
    "vector_next": 0.7331,
    "vector_around": 1.3814,
    "coverage_around": 8.0434,
    "answer": 0.9821,
    "session": 0.0308,
    "session_vector": 4.7895,
    "date": 2.3054,
    "tells_when": 1.8905,
    "speaker": 3.0047,
    "length": 0.4833,
    "long": -1.8681,
    "brief_vector": -4.9656,
    "by_person": 1.5793,
    "question": -0.9815,
    "graph": 1.0,
}
# Mean score of the evidence there: the level at which notes are put.
LEVEL = 12.6337
