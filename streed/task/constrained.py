"""The task without its limits on leaves."""

from streed.task.base import objective

__all__ = ["objective"]
