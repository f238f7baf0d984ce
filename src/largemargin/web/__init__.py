"""The library over HTTP: models that answer requests, and a page to play on."""
