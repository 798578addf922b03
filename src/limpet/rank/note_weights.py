"""Weights of linear fusion for statements without a speaker: notes, decisions, facts.

In a chat brevity means that a turn says little; a keyed fact of two characters says all. Written by
`python -m benchmarks.tune_notes`, fitted on the tuning half of tests/quality/recall (560 questions);
guarded by tests/quality/test_recall.py.
"""

NOTE_WEIGHTS: dict[str, float] = {
    "lexical": 8.2329,
    "vector": 17.9809,
    "lexical_previous": 1.3042,
    "lexical_next": 1.8049,
    "vector_around": 2.5867,
    "session": 0.8156,
    "date": 2.1811,
    "length": 0.7685,
    "long": -3.2409,
    "keyed": 2.9758,
}
# Added, so that the right answer scores alike as a note and as a turn of a conversation.
NOTE_OFFSET = -2.5258
