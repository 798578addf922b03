"""Weights of linear fusion: one set for all that is found, turns of conversations and notes.

Written by `python -m benchmarks.tune --part weights --write`, fitted on the questions of:
chats (1199), notes (5749), written (1291), longmemeval (149), own (560);
guarded by tests/unit/test_rank.py and tests/quality/test_recall.py.
"""

WEIGHTS: dict[str, float] = {
    "lexical": 4.8521,
    "coverage": -0.6618,
    "fields": 2.2054,
    "vector": 13.8848,
    "lexical_previous": -0.6943,
    "lexical_next": -1.3479,
    "lexical_around": 0.6978,
    "vector_previous": 1.0438,
    "vector_next": -0.3851,
    "vector_around": 0.4996,
    "coverage_around": 5.7767,
    "session": 0.6389,
    "session_vector": 3.4445,
    "date": 1.5097,
    "speaker": 3.2472,
    "length": 0.727,
    "long": -1.3422,
    "brief_vector": 3.6617,
    "by_person": 2.0242,
    "asked_of_agent": -5.828,
    "question": -0.7532,
    "keyed": 1.9509,
    "word_vectors": 8.0,
}
