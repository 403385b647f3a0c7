"""A result as one static HTML file that needs nothing else: the tree, its rules, its errors, and charts.

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
