"""What an estimator is made of: checked input, labels, fingerprints, and kernel expansions."""
