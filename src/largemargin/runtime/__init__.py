"""How the library runs, whatever it computes."""
