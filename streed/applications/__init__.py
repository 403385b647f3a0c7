"""What the applications of the papers bring beside their objectives: cost tables, hazards, teachers, policies."""

from streed.applications.cost_tables import CostTable, TestCost

__all__ = ["CostTable", "TestCost"]
