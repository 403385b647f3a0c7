"""Counting: from codes to bit columns, groups of rows, and sums over pairs of columns."""
