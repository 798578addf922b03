"""The weights of the fit of a memory to a message: log-odds, see agents/hooks/fit.py.

Written by `python -m benchmarks.tune --part hooks --write`, fitted on messages and questions of training/ that no model
was trained on, each in its own store, longer ones made of them, and those of another store: every fourth, by words
every second. Guarded by tests/quality/test_prompts.py, on both halves of which SHOWN_FROM_JUDGED was moved by hand.
"""

FITS: dict[str, float] = {
    "one": -4.0258,
    "cosine": 8.6325,
    "behind": -0.4196,
}
FITS_JUDGED: dict[str, float] = {
    "one": -0.0230,
    "behind": -0.4801,
    "judge": 0.5634,
}
FITS_BY_WORDS: dict[str, float] = {
    "one": -4.4054,
    "word_vectors": 5.5967,
    "behind": -0.7172,
    "shared": 0.5690,
}
# A memory is shown from this probability on, and from this share of the best one's.
SHOWN_FROM, SHOWN_FROM_JUDGED, SHOWN_FROM_BY_WORDS = 0.4, 0.36, 0.27
SHARE_OF_BEST = 0.7
