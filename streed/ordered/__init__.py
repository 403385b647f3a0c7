"""The native search over all thresholds of ordered columns."""
