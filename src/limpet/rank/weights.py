"""Weights of linear fusion: one set for all that is found, turns of conversations and notes.

Written by `python -m benchmarks.tune --part weights --write`, fitted on the questions of:
written (7793), longmemeval (149), own (560);
guarded by tests/unit/test_rank.py and tests/quality/test_recall.py.
"""

WEIGHTS: dict[str, float] = {
    "lexical": 4.8147,
    "coverage": 0.7591,
    "fields": 2.1475,
    "vector": 15.3589,
    "lexical_previous": -0.7425,
    "lexical_next": -0.9493,
    "lexical_around": -0.709,
    "vector_previous": 0.5883,
    "vector_next": -1.7477,
    "vector_around": 0.6202,
    "coverage_around": 5.5108,
    "answer": 0.3255,
    "session": 0.2854,
    "session_vector": 3.9031,
    "date": 1.1398,
    "tells_when": 0.3901,
    "recent": 0.5,
    "speaker": 4.0147,
    "length": 0.5381,
    "long": -1.4982,
    "brief_vector": 0.6855,
    "by_person": 1.0558,
    "question": -0.8751,
    "keyed": 1.9547,
    "word_vectors": 8.0,
    "graph": 1.0,
}
