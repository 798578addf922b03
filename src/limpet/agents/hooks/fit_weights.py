"""Whether a memory fits a message: log-odds, see agents/hooks/fit.py.

Written by `python -m benchmarks.tune --part hooks --write`, fitted on 6840 messages and
941 questions of training/ that no model was trained on. Guarded by
tests/quality/test_prompts.py. By meaning on every other of those asked in their own store.
"""

FITS: dict[str, float] = {
    "one": -5.0160,
    "cosine": 8.6277,
    "behind": -0.5784,
    "length": 0.1322,
}
FITS_JUDGED: dict[str, float] = {
    "one": -0.4093,
    "behind": -0.6049,
    "length": 0.0593,
    "judge": 0.5204,
}
FITS_BY_WORDS: dict[str, float] = {
    "one": -5.1230,
    "word_vectors": 5.0422,
    "behind": -1.0115,
    "length": 0.0914,
    "shared": 0.6073,
}
# From which probability on a memory is shown, and from which share of the best one's.
SHOWN_FROM, SHOWN_FROM_JUDGED, SHOWN_FROM_BY_WORDS = 0.35, 0.35, 0.25
SHARE_OF_BEST = 0.7
