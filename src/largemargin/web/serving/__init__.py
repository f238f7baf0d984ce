"""Models that answer requests: the Open Inference Protocol, and rows as people send them."""
