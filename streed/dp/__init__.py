"""Dynamic programming over sets of rows in plain Python: any separable task (STreeD, Eq. 8)."""
