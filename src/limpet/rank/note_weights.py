"""Weights of linear fusion for statements without a speaker: notes, decisions, facts.

In a chat brevity means that a turn says little; a keyed fact of two characters says all. Written by
`python -m benchmarks.tune --write`, fitted on 560 questions, the tuning half of
tests/quality/recall; guarded by tests/quality/test_recall.py.
"""

NOTE_WEIGHTS: dict[str, float] = {
    "lexical": 8.2333,
    "vector": 17.9834,
    "lexical_previous": 1.3041,
    "lexical_next": 1.8049,
    "vector_around": 2.5868,
    "session": 0.8154,
    "date": 2.1813,
    "length": 0.7685,
    "long": -3.2428,
    "keyed": 2.9759,
    "recent": 0.5,
    "graph": 1.0,
}
# Added, so that the right answer scores alike as a note and as a turn of a conversation.
NOTE_OFFSET = -2.4407
