"""Weights of linear fusion for turns of conversations; those of notes were fitted with them.

Written by `python -m benchmarks.tune --part weights --write`, fitted on the questions of:
written (4149), longmemeval (149), own (560);
guarded by tests/unit/test_rank.py.
"""

WEIGHTS: dict[str, float] = {
    "lexical": 0.1982,
    "coverage": 4.8623,
    "fields": 6.8486,
    "vector": 12.4038,
    "lexical_previous": -2.173,
    "lexical_next": -2.2477,
    "lexical_around": -0.0536,
    "vector_previous": 1.6717,
    "vector_next": -1.8893,
    "vector_around": -0.4217,
    "coverage_around": 6.4588,
    "answer": 0.1801,
    "session": 0.4227,
    "session_vector": 6.6222,
    "date": 1.2253,
    "tells_when": 0.2984,
    "speaker": 2.9058,
    "length": 0.2227,
    "long": -1.9578,
    "brief_vector": -2.0378,
    "by_person": 0.7306,
    "question": -0.6905,
    "graph": 1.0,
}
