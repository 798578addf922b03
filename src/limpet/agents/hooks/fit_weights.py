"""Whether a memory fits a message by meaning: log-odds, see agents/hooks/fit.py.

Written by `python -m benchmarks.tune --part hooks --write`, fitted on 4176 messages and
941 questions of training/, with the judge on 4176 and 941,
that no model was trained on. Guarded by tests/quality/test_prompts.py.
"""

FITS: dict[str, float] = {
    "one": -5.0400,
    "cosine": 8.0200,
    "behind": -0.6400,
    "length": 0.1200,
}
FITS_JUDGED: dict[str, float] = {
    "one": -0.4800,
    "behind": -0.6400,
    "length": 0.0500,
    "judge": 0.5400,
}
FITS_BY_WORDS: dict[str, float] = {
    "one": -5.1158,
    "word_vectors": 5.0158,
    "behind": -1.0159,
    "length": 0.0916,
    "shared": 0.6088,
}
# From which probability on a memory is shown, and from which share of the best one's.
SHOWN_FROM, SHOWN_FROM_JUDGED, SHOWN_FROM_BY_WORDS = 0.4, 0.28, 0.25
SHARE_OF_BEST = 0.5
