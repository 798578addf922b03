"""Weights of linear fusion: one set for all that is found, turns of conversations and notes.

Written by `python -m benchmarks.tune --part weights --write`, fitted on the questions of:
chats (1199), notes (5749), written (1291), longmemeval (149), own (560);
guarded by tests/unit/test_rank.py and tests/quality/test_recall.py.
"""

WEIGHTS: dict[str, float] = {
    "lexical": 3.7441,
    "coverage": 0.1501,
    "fields": 3.5877,
    "vector": 12.9766,
    "lexical_previous": -0.8573,
    "lexical_next": -1.697,
    "lexical_around": 1.0375,
    "vector_previous": 1.1719,
    "vector_next": -0.2996,
    "vector_around": 0.4053,
    "coverage_around": 5.8949,
    "answer": 0.1755,
    "session": 0.5526,
    "session_vector": 4.004,
    "date": 1.3308,
    "tells_when": 0.331,
    "recent": 0.5,
    "speaker": 3.1497,
    "length": 0.744,
    "long": -1.4401,
    "brief_vector": 3.8859,
    "by_person": 1.9894,
    "asked_of_agent": -5.6437,
    "question": -0.7234,
    "keyed": 1.8261,
    "word_vectors": 8.0,
    "graph": 1.0,
}
