"""What is derived of a task: its linear form, what its costs depend on, its vector form, and the facts `explain` tells."""
