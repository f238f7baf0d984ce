"""A page on which margins are seen: points are drawn, machines fit them, their steps replayed."""
