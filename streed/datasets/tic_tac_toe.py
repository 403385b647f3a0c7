"""Tic-tac-toe endgames: every board on which a game can end when x moves first."""

from __future__ import annotations

from streed.datasets.bundle import Bundled

_SQUARES = tuple(f"{row}-{column}" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right"))

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def make(name: str) -> Bundled:
    """One row per final board, 958 of them: nine squares with x, o or b (blank), and whether x has won."""
    boards = sorted(_final_boards())
    table = {square: [board[i] for board in boards] for i, square in enumerate(_SQUARES)}
    table["class"] = ["positive" if _has_won(board, "x") else "negative" for board in boards]
    return Bundled(
        name=name,
        description="Tic-tac-toe: all boards on which a game can end; positive where x, who moves first, has won",
        source="the rules of the game; published as D. W. Aha (1991): Tic-Tac-Toe Endgame, UCI repository",
        table=table,
        target="class",
    )


def _final_boards() -> set[str]:
    final: set[str] = set()
    reached = {"b" * 9}
    for turn in range(9):
        player = "xo"[turn % 2]
        moved = {
            board[:square] + player + board[square + 1 :]
            for board in reached
            for square, mark in enumerate(board)
            if mark == "b"
        }
        ended = {board for board in moved if _has_won(board, player)}
        final |= ended
        reached = moved - ended
    return final | reached


def _has_won(board: str, player: str) -> bool:
    return any(all(board[square] == player for square in line) for line in _LINES)
