"""What near-optimal trees are counted by, native: arrays in, arrays out."""
