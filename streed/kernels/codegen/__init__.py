"""Kernels that are generated from a task's own methods: what they depend on, their text, and their compilation."""
