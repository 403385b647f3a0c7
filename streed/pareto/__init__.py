"""Native Pareto fronts: vectors packed in keys, staircases, and the search over them (STreeD, Eq. 3, 6, 7, 8)."""
