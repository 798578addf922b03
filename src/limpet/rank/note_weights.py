"""Weights of linear fusion for statements without a speaker: notes, decisions, facts.

In a chat brevity means that a turn says little; a keyed fact of two characters says all.
Written by `python -m benchmarks.tune --part weights --write`, fitted on the questions of:
written (5849), longmemeval (149), own (560);
guarded by tests/quality/test_recall.py.
"""

NOTE_WEIGHTS: dict[str, float] = {
    "lexical": 5.4223,
    "vector": 19.3703,
    "lexical_previous": 0.2364,
    "lexical_next": 0.5972,
    "vector_around": 0.8906,
    "session": 2.5401,
    "date": 0.5844,
    "recent": 0.5,
    "length": 0.3268,
    "long": -1.7478,
    "keyed": 1.7625,
    "graph": 1.0,
}
# Added: fitted where turns and notes were candidates of the same questions.
NOTE_OFFSET = -0.0129
