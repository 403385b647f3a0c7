"""`python -m streed` is `streed`."""

from streed.cli import main

if __name__ == "__main__":
    main()
