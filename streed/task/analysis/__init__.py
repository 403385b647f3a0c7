"""What is derived of a task: linear and vector form, what its costs depend on, and the facts that `explain` tells."""
