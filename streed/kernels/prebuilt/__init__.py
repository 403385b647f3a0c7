"""Native code that was built beforehand: the files it is kept in, for which processors, and how it is called."""
