"""Weights of linear fusion. Placeholder values from the literature until the recorded fit replaces them."""

WEIGHTS: dict[str, float] = {
    "lexical": 1.0,
    "fields": 0.5,
    "vector": 1.2,
    "lexical_previous": 0.45,
    "lexical_next": 0.2,
    "vector_previous": 0.25,
    "vector_next": 0.15,
    "session": 0.1,
    "date": 0.3,
    "speaker": 0.15,
    "length": 0.08,
    "question": -0.15,
    "answer": 0.1,
}
SHIFTS: dict[str, float] = {}
