"""From tables as they are, numbers, texts, dates and gaps, to the yes/no questions that trees ask."""

from __future__ import annotations

from streed.binarize.planning import METHODS, Settings, make_recipe
from streed.binarize.recipe import ColumnRecipe, TableRecipe

__all__ = ["METHODS", "ColumnRecipe", "Settings", "TableRecipe", "make_recipe"]
