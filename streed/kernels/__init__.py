"""The native engine: arrays in and out, compiled by numba when first called."""
