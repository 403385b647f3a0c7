"""Compiled functions, arrays in and arrays out: they know no task and no search."""
