"""Scoring: from pair sums to the best trees of depth two, by kind of task."""
