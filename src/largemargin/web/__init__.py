"""The library over HTTP: models that answer requests."""
