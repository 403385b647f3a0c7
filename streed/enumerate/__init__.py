"""All trees below a budget, by their sums."""
