"""From tables as they are, numbers, texts, dates and gaps, to the yes/no questions that trees ask."""

from __future__ import annotations

from streed.binarize.recipe import METHODS, ColumnRecipe, Settings, TableRecipe, make_recipe

__all__ = ["METHODS", "ColumnRecipe", "Settings", "TableRecipe", "make_recipe"]
