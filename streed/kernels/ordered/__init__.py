"""Thresholds of ordered columns: rows in the order of each column, and the scores of splits of them."""
