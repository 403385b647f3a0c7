"""Branch and bound over the AND/OR graph of subproblems, in native code."""
