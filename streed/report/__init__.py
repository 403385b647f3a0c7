"""A result as one static HTML file that needs nothing else: the tree, its rules, its errors, and charts."""

from streed.report.page import make_report, write_report

__all__ = ["make_report", "write_report"]
