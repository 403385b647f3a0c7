"""`python -m streed` is `streed`."""

from streed.cli.app import main

if __name__ == "__main__":
    main()
