"""The commands of the shell, which `app` gathers. Each loads what it needs when it runs: `--help` waits for nothing."""
