"""Every case in turn: `python -m examples.gallery --data FOLDER --out docs/gallery`."""

from __future__ import annotations

from examples.gallery import admissions, credit, medical_costs, policy, rare_events, regression
from examples.gallery.case import Absent, read_options

CASES = (credit, admissions, medical_costs, rare_events, policy, regression)


def main() -> None:
    """Runs the cases; one without data says so and is passed over."""
    options = read_options(__doc__)
    for case in CASES:
        print(f"\n{(case.__doc__ or '').partition(chr(10))[0]}")
        try:
            case.run(options)
        except Absent as reason:
            print(f"skipped: {reason}")


if __name__ == "__main__":
    main()
