"""What is derived of a task: linear form, what its costs depend on, and the facts that `explain` tells."""
