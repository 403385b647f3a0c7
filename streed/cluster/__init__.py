"""Searches on many machines: the splits of the root as pieces of work, their bounds, and a driver for Dask."""

from streed.cluster.frontier import Frontier, frontier
from streed.cluster.pieces import Piece, Progressed, forget, improve

__all__ = ["Frontier", "Piece", "Progressed", "forget", "frontier", "improve"]
