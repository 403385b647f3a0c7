"""A result as one HTML file that needs nothing else: all the pictures, the tree to be opened and closed.

>>> import streed
>>> from streed.report import make_report
>>> from streed.tasks import Accuracy
>>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
>>> page = make_report(streed.solve(Accuracy(), X, y, max_depth=2), X, y, title="Exclusive or")
>>> page.startswith("<!DOCTYPE html>")
True
"""

from streed.report.page import make_report, write_report

__all__ = ["make_report", "write_report"]
