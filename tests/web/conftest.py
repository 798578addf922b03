"""A page over a real store, and a reader of what it answers."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

import limpet
from limpet.features.web.access import Access
from limpet.features.web.site import Site, application

PORT = 8765
HOME = f"http://127.0.0.1:{PORT}"
LINK = "a link that only a test knows"


class Browser(TestClient):
    """One that sends what a browser sends: its cookies, and with a form the page that it is from."""

    def enter(self):
        assert self.get("/enter", params={"link": LINK}).status_code == 200
        return self

    def submit(self, to, follow=True, **fields):
        """A form of a page, with its token."""
        fields = {"token": self.site.access.owner.form_token, "back": "/"} | fields
        return self.post(to, data=fields, headers={"origin": HOME}, follow_redirects=follow)


def open_page(memory, clock=None, **given):
    access = Access(PORT, link=LINK)
    site = Site(memory, access, clock=clock, **given)
    browser = Browser(application(site), base_url=HOME)
    browser.site = site
    return browser


@pytest.fixture
def page(memory, clock):
    """A browser that was let in, over the store of the fixture `memory`."""
    return open_page(memory, clock).enter()


class Read(HTMLParser):
    """What a page is made of: every element with its attributes, and the text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.words = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def values(self, tag, name):
        return [attrs.get(name) for one, attrs in self.elements if one == tag and name in attrs]


@pytest.fixture
def read():
    return lambda answer: Read(answer.text)


@pytest.fixture
def open_read_only(path, clock):
    with limpet.open(path, scope="project:api", clock=clock, read_only=True) as opened:
        yield opened
