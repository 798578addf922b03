"""The local web page, asked over its own application: real store, no browser."""
