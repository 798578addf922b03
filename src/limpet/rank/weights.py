"""Weights of linear fusion for turns of conversations; those of notes were fitted with them.

Written by `python -m benchmarks.tune --part weights --write`, fitted on the questions of:
written (5849), longmemeval (149), own (560);
guarded by tests/unit/test_rank.py.
"""

WEIGHTS: dict[str, float] = {
    "lexical": 0.6743,
    "coverage": 4.7347,
    "fields": 4.8225,
    "vector": 12.6858,
    "lexical_previous": -2.3012,
    "lexical_next": -2.2964,
    "lexical_around": 0.2118,
    "vector_previous": 2.1682,
    "vector_next": -1.8287,
    "vector_around": -0.4509,
    "coverage_around": 6.5314,
    "answer": 0.2251,
    "session": 0.0573,
    "session_vector": 5.6239,
    "date": 1.4507,
    "tells_when": 0.6231,
    "speaker": 3.5958,
    "length": 0.2878,
    "long": -1.7679,
    "brief_vector": -1.4713,
    "by_person": 1.1019,
    "question": -0.7683,
    "graph": 1.0,
}
