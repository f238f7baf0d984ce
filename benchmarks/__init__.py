"""Side-by-side measurements: every claim of speed is a ratio, measured in one run."""
