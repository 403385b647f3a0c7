"""Searches on many machines: the splits of the root as pieces of work, their bounds, and a driver for Dask."""
