"""Building the prebuilt library: `python -m streed.prebuild`."""
