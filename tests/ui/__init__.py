"""The page in a real browser (`make test-ui`): Debian's Chromium, driven by Playwright; axe-core from npm."""
