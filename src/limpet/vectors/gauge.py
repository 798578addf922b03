"""How an embedder's cosines lie, so that what was chosen with one embedder holds for another.

A text that has nothing to do with a question has a cosine of 0.05 with it by MiniLM and of 0.76 by E5, its answer one
of 0.47 and 0.82. Ranking has to know how near a text is, not what an embedder calls it: cosines are moved and stretched
to where those of MiniLM lie, with which weights and thresholds were chosen. What an embedder calls near is measured on
the questions and answers below, once, and kept in the store beside its vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from ..store.records import EmbedderRow
    from .embedder import Embedder

    Cosine = TypeVar("Cosine", float, np.ndarray)


class Gauge(NamedTuple):
    """Mean cosines of an embedder."""

    unrelated: float  # of a question and a text that does not answer it
    related: float  # of a question and its answer
    apart: float  # of two texts that say different things; the same text twice has 1

    def of_question(self, cosines: np.ndarray) -> np.ndarray:
        """Cosines of a question with texts (n,), as near as the texts would be by MiniLM. 0 = no vector: stays 0."""
        import numpy as np

        if self == FITTED:
            return cosines
        slope = (FITTED.related - FITTED.unrelated) / (self.related - self.unrelated)
        return np.where(cosines == 0, 0.0, FITTED.unrelated + (cosines - self.unrelated) * slope)

    def of_texts(self, cosine: Cosine) -> Cosine:
        """A cosine of two texts, as near as they would be by MiniLM; of the same text twice 1."""
        return cosine if self == FITTED else 1 - (1 - cosine) * (1 - FITTED.apart) / (1 - self.apart)

    def threshold(self, cosine: float) -> float:
        """The cosine of two texts by this embedder that is `cosine` by MiniLM: `of_texts` the other way round."""
        return cosine if self == FITTED else 1 - (1 - cosine) * (1 - self.apart) / (1 - FITTED.apart)


# Those of MiniLM, with which all weights and thresholds were chosen. tests/unit/test_gauge.py.
FITTED = Gauge(0.0528, 0.471, 0.0775)
# A question's answer is this much nearer than other texts, two texts this much apart: or else the embedder does not
# read what it is measured on (it may be one for code, or for another language), and its cosines stay as they are.
LEAST = 0.02


def gauge_of(embedder: Embedder, row: EmbedderRow) -> Gauge:
    """What the store knows of an embedder, or what it states itself; until it is measured, its cosines stay."""
    stated: Gauge | None = getattr(embedder, "gauge", None)
    return stored(row) if stated is None else stated


def stored(row: EmbedderRow) -> Gauge:
    """What the store knows of an embedder that may not be here."""
    return FITTED if row.gauge is None else Gauge(*row.gauge)


def measured(embedder: Embedder) -> Gauge:
    """A run of the model for each question and each answer. Raises what the embedder raises."""
    import numpy as np

    answers = np.asarray(embedder.embed_passages([answer for _, answer in PAIRS]))
    cosines = np.stack([np.asarray(embedder.embed_query(question)) for question, _ in PAIRS]) @ answers.T
    own = np.eye(len(PAIRS), dtype=bool)
    means = cosines[~own].mean(), cosines[own].mean(), (answers @ answers.T)[~own].mean()
    found = Gauge(*(round(float(mean), 6) for mean in means))
    return found if found.related - found.unrelated >= LEAST and 1 - found.apart >= LEAST else FITTED


# What agents remember and are asked, some of it in the question's words. Written for this; of no data set.
PAIRS = (
    ("Why did we move the search service to Go?", "The search service was rewritten in Go because the Python one used too much memory under load."),
    ("Which port does the metrics exporter listen on?", "Prometheus scrapes the metrics exporter on port 9100 of every node."),
    ("What breaks when the disk is full?", "Without free space the log rotation fails and the whole service stops."),
    ("How long may a request take before it is cut?", "The gateway closes connections after thirty seconds."),
    ("Which test is flaky?", "test_reconnect fails about once a week: the timer races with the socket."),
    ("How do we name branches?", "A branch starts with the ticket number, then a short description in lower case."),
    ("How are the nightly backups encrypted?", "Nightly backups are encrypted with age before they are copied off site."),
    ("What must be done before a release?", "Tag the version and update the change log first, then start the pipeline."),
    ("Why is uploading pictures slow?", "Image uploads take two seconds each because thumbnails are made twice."),
    ("Which editor theme does the user like?", "The user prefers a light colour scheme in every editor."),
    ("How do I clear the cache?", "Delete the folder .cache and start the program again to empty the cache."),
    ("What is the rule for dates in the API?", "All timestamps in the API are ISO 8601 in UTC, never local time."),
    ("Which library draws our charts?", "Plots in the reports are made with matplotlib, not in the browser."),
    ("Why was the old message queue given up?", "We left RabbitMQ: nobody could run its cluster, and a table was enough."),
    ("Which database does the billing service use?", "Billing keeps its invoices in PostgreSQL 15 with one schema a tenant."),
    ("How many workers does the importer start?", "The importer runs four processes at a time; more only wait for the disk."),
    ("What did the incident last spring come from?", "The outage in April was caused by an expired certificate on the load balancer."),
    ("Where are secrets kept?", "Credentials live in Vault; nothing secret may be in environment files."),
    ("Who reviews changes to the schema?", "Database migrations need an approval by somebody of the data team."),
    ("How do I run only the fast tests?", "Run pytest -m 'not slow' to leave the long tests out."),
    ("Why does the login page flicker?", "The sign-in screen renders before the session is known, so it is drawn twice."),
    ("What is the limit for uploads?", "Files of more than 25 MB are refused by the proxy."),
    ("Which Node version do we build with?", "The front end is built with Node 20; 22 breaks the bundler."),
    ("How are customers told about price changes?", "An e-mail goes out thirty days before a new tariff applies."),
    ("What do we log about users?", "Only the account number is written to the logs, never names or addresses."),
    ("Why is the report wrong in March?", "Daylight saving makes one day an hour short, and the sums are by hour."),
    ("How is a feature switched on for a few people?", "New features hide behind a flag that is turned on by percentage."),
    ("Which cloud region are we in?", "Everything runs in Frankfurt for the sake of data protection."),
    ("What does the linter complain about most?", "Ruff mostly finds unused imports and lines that are too long."),
    ("How often is the index rebuilt?", "The full-text index is rebuilt every Sunday night."),
    ("Why do mobile users see old data?", "The app keeps answers for ten minutes unless it is pulled down to refresh."),
    ("How do I get a shell in the container?", "Use kubectl exec -it with the pod's name to open a terminal in it."),
    ("Which day is the team lunch?", "We eat together every Thursday at noon."),
    ("Which flight did we book to Lisbon?", "Our plane to Portugal is TP 571 on Friday morning."),
    ("How much rent do we pay?", "The apartment costs 1,150 euros a month, heating included."),
    ("What did the doctor say about coffee?", "She was told to drink less caffeine."),
    ("Which instrument does Tom play?", "Tom has had cello lessons since he was six."),
    ("Where does the hiking trail begin?", "The path up the mountain starts behind the church."),
    ("What did the children get for Christmas?", "The kids were given a wooden train for Christmas."),
    ("How warm should the dough be?", "Keep the bread dough at 26 degrees while it rises."),
)
