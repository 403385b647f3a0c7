"""What is asked of a search and what it answers; what a driver is, and what it may offer for linear costs."""

from streed.problem.driver import Driver
from streed.problem.problem import Outcome, Problem, SearchLimits, SearchStopped, Solution, agree

__all__ = ["Driver", "Outcome", "Problem", "SearchLimits", "SearchStopped", "Solution", "agree"]
