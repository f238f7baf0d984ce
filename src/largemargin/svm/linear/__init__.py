"""Linear machines with an explicit w."""
