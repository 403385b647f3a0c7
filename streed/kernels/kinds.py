"""Kinds of problems, which say what kernels apply."""

SIGNED, LABELS, TEST_COSTS, COUNTED, SUMMED = "signed", "labels", "test costs", "counted", "summed"
CLASSES = "classes"
"""Costs per row and two labels, or any number of labels, or with prices of splits besides; a kernel generated from the
task, which scores counts of row groups, or sums over rows.

CLASSES is no kind of a problem, but of an expansion: of two labels where every row costs something under one only."""
