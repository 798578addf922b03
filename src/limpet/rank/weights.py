"""Weights of linear fusion: one set for all that is found, turns of conversations and notes.

Written by `python -m benchmarks.tune --part weights --write`, fitted on the questions of:
written (7793), longmemeval (149), own (560);
guarded by tests/unit/test_rank.py and tests/quality/test_recall.py.
"""

WEIGHTS: dict[str, float] = {
    "lexical": 4.8953,
    "coverage": 0.8314,
    "fields": 2.2629,
    "vector": 14.3273,
    "lexical_previous": -0.7751,
    "lexical_next": -1.0179,
    "lexical_around": -0.6707,
    "vector_previous": 0.5927,
    "vector_next": -1.8959,
    "vector_around": 0.7897,
    "coverage_around": 5.8265,
    "answer": 0.3139,
    "session": 0.2156,
    "session_vector": 4.2216,
    "date": 1.1262,
    "tells_when": 0.4329,
    "recent": 0.5,
    "speaker": 4.1518,
    "length": 0.5176,
    "long": -1.5434,
    "brief_vector": 0.7967,
    "by_person": 1.0183,
    "question": -0.9173,
    "keyed": 1.8987,
    "graph": 1.0,
}
