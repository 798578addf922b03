"""Weights of linear fusion for statements without a speaker: notes, decisions, facts.

In a chat brevity means that a turn says little; a keyed fact of two characters says all.
Written by `python -m benchmarks.tune --part weights --write`, fitted on the questions of:
written (4149), longmemeval (149), own (560);
guarded by tests/quality/test_recall.py.
"""

NOTE_WEIGHTS: dict[str, float] = {
    "lexical": 5.0246,
    "vector": 17.782,
    "lexical_previous": 0.0848,
    "lexical_next": 0.4674,
    "vector_around": 0.5958,
    "session": 2.8094,
    "date": 0.8285,
    "recent": 0.5,
    "length": 0.3725,
    "long": -1.7399,
    "keyed": 1.7355,
    "graph": 1.0,
}
# Added: fitted where turns and notes were candidates of the same questions.
NOTE_OFFSET = -0.2176
