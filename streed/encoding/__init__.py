"""From a task to the integers that kernels read, and back: one encoding a route."""
