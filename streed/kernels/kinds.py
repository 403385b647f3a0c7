"""Kinds of problems, which say what kernels apply."""

SIGNED, LABELS, PRICED, COUNTED, SUMMED = "signed", "labels", "priced", "counted", "summed"
"""Costs per row and two labels, or any number of labels, or with prices of splits besides; a kernel generated from the
task, which scores counts of row groups, or sums over rows."""
