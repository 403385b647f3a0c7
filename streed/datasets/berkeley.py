"""Graduate admissions at Berkeley, autumn 1973, six largest departments.

Overall 45 % of the men and 30 % of the women were admitted, while department by department women fared as well as men
or better: they applied to the departments that rejected most (Simpson's paradox).
"""

from __future__ import annotations

from streed.datasets.bundle import Bundled

_COUNTS = {
    "A": ((512, 313), (89, 19)),
    "B": ((353, 207), (17, 8)),
    "C": ((120, 205), (202, 391)),
    "D": ((138, 279), (131, 244)),
    "E": ((53, 138), (94, 299)),
    "F": ((22, 351), (24, 317)),
}
"""Per department: men admitted and rejected, women admitted and rejected."""


def make(name: str) -> Bundled:
    """One row per applicant, 4,526 of them, in the order of the published table."""
    table: dict[str, list[str]] = {"gender": [], "department": [], "admitted": []}
    for department, groups in _COUNTS.items():
        for gender, counts in zip(("male", "female"), groups, strict=True):
            for admitted, count in zip(("yes", "no"), counts, strict=True):
                table["gender"] += [gender] * count
                table["department"] += [department] * count
                table["admitted"] += [admitted] * count
    return Bundled(
        name=name,
        description="Graduate admissions, Berkeley 1973: gender, department, and whether the applicant was admitted",
        source=(
            "P. J. Bickel, E. A. Hammel, J. W. O'Connell (1975): Sex bias in graduate admissions: data from Berkeley, "
            "Science 187, 398-404; counts as in Freedman, Pisani, Purves: Statistics, chapter 2"
        ),
        table=table,
        target="admitted",
        sensitive=("gender",),
    )
