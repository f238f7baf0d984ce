"""How the library runs: threads, memory, progress, files, and values shown to people."""
