"""The prover's search by compiled code: claims about sets of rows, improved until they are enough for those that ask.

It knows the value that is to be reached, so it asks of a claim no more than what the claim above it needs. What it
finds need not be trusted. Calls stop where arrays are full or steps are over, and go on where they stopped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streed.exact import Array
from streed.proof.counting import compiled, count_column, count_ones, native, scratch_for
from streed.proof.judge import lend_bound, lend_sides, weigh
from streed.proof.packed import counts_of, make_work
from streed.proof.sides import ENDLESS, UNLIMITED, open_sides

DONE, PAUSED, FULL = range(3)

CLAIMS, LINKS, LEVEL, THREES, COLUMNS, STEPS = range(6)
"""Places in `Found.counts`: how many there are of each, the topmost frame, and the steps so far."""

SIMILAR, RECENT = 6, 256
"""How many earlier claims of depth three may lend the bounds of their sides, and among how many of the last ones."""


class Found(NamedTuple):
    """All claims (M of them, and room), what each rests on, and the frames of the one that is being improved."""

    rows: Array
    """(M, V) uint64"""
    depths: Array
    """(M,)"""
    lower: Array
    """(M,) shown so far."""
    upper: Array
    """(M,) what some tree costs."""
    weights: Array
    """(M,) the worst regrets of the rows."""
    parents: Array
    """(M,) the claim whose side it is, -1 of none."""
    literals: Array
    """(M,) which of its sides."""
    anchors: Array
    """(M,) its first link, -1 where it rests on no claim."""
    columns: Array
    """(M,) at depth three the last column that raised a side, as a link."""
    places: Array
    """(M,) where the sides of a claim of depth three are, -1 of others and before it is opened."""
    lent: Array
    """(M,) whether its sides' bounds raised another's."""
    links: Array
    """(., 2) a claim, and the next link."""
    column_links: Array
    """(., 2) a column, and the next link."""
    known: Array
    """(., Q) what followed from the column of a link."""
    threes: Array
    """(.,) the claims of depth three, in the order of their opening."""
    sides: Array
    """(., Q) bounds of their sides."""
    reached: Array
    """(., Q) what some tree on each costs."""
    table: Array
    """(a power of two,) claims by the hash of their rows and depth, -1 where there is none."""
    frames: Array
    """(F, 6): claim, target, whether it is open, the side that is asked, its column, its leaf."""
    frame_sides: Array
    """(F, Q)"""
    frame_reached: Array
    """(F, Q)"""
    frame_allowed: Array
    """(F, P) bool"""
    counts: Array
    """(6,)"""


@native
def place_in(table, depths, rows_of, rows, depth):  # type: ignore[no-untyped-def]
    """Where in the table a claim is, or would be."""
    mixed = np.uint64(depth)
    for v in range(len(rows)):
        mixed = (mixed ^ rows[v]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    at = np.int64(mixed & np.uint64(len(table) - 1))
    while table[at] >= 0:
        other, same = table[at], depths[table[at]] == depth
        for v in range(len(rows)):
            if not same:
                break
            same = rows_of[other, v] == rows[v]
        if same:
            break
        at = (at + 1) & (len(table) - 1)
    return at


@compiled
def fill_table(found):  # type: ignore[no-untyped-def]
    """Writes all claims into the table anew."""
    found.table[:] = -1
    for claim in range(found.counts[CLAIMS]):
        at = place_in(found.table, found.depths, found.rows, found.rows[claim], found.depths[claim])
        found.table[at] = claim


@compiled
def claim_of(p, found, rows, depth, parent, literal):  # type: ignore[no-untyped-def]
    """The claim about rows (V,) and a depth, made once; there must be room for it."""
    at = place_in(found.table, found.depths, found.rows, rows, depth)
    if found.table[at] < 0:
        claim = found.counts[CLAIMS]
        found.counts[CLAIMS] += 1
        found.table[at] = claim
        found.rows[claim] = rows
        found.depths[claim], found.parents[claim], found.literals[claim] = depth, parent, literal
        found.lower[claim], found.upper[claim], found.weights[claim] = 0, ENDLESS, weigh(p, rows)
        found.anchors[claim] = found.columns[claim] = found.places[claim] = -1
        found.lent[claim] = False
    return found.table[at]


@native
def add_anchor(found, claim, anchor):  # type: ignore[no-untyped-def]
    """Notes that a claim rests on another."""
    link = found.anchors[claim]
    while link >= 0:
        if found.links[link, 0] == anchor:
            return
        link = found.links[link, 1]
    link = found.counts[LINKS]
    found.counts[LINKS] += 1
    found.links[link, 0], found.links[link, 1] = anchor, found.anchors[claim]
    found.anchors[claim] = link


@native
def borrow(p, found, claim, w, sides, raised):  # type: ignore[no-untyped-def]
    """Raises the sides (Q,) of a claim of depth three by those of similar ones; `raised` (Q,) is scratch."""
    count, here = found.counts[THREES], found.rows[claim]
    begin = max(0, count - RECENT)
    away = np.empty(count - begin, np.int64)
    for k in range(len(away)):
        there, away[k] = found.rows[found.threes[begin + k]], 0
        for v in range(len(p.words)):
            lost = there[v] & ~here[v]
            if lost != 0:
                away[k] += p.worst[p.kind_of_word[v], 0] * count_ones(lost)
    for _ in range(min(SIMILAR, len(away))):
        nearest = np.argmin(away)
        other, of_other = found.threes[begin + nearest], found.sides[begin + nearest]
        if away[nearest] >= of_other.max():
            return
        away[nearest] = ENDLESS
        raised[:] = sides
        lend_sides(p, of_other, found.rows[other], here, w, sides)
        for q in range(len(sides)):
            if sides[q] > raised[q]:
                add_anchor(found, claim, other)
                found.lent[other] = True
                break


@native
def improve_three(p, found, claim, target, w, sides, reached, allowed, known, cost):  # type: ignore[no-untyped-def]
    """Counts columns of a claim of depth three, the best tree's first, until its bound is enough."""
    floor, leaf, weight, n_words = open_sides(p, found.rows[claim], 3, True, w, sides, reached, allowed)
    lower, upper = max(floor, found.lower[claim]), min(leaf, found.upper[claim])
    if found.places[claim] < 0:
        borrow(p, found, claim, w, sides, known)
        found.places[claim] = found.counts[THREES]
        found.threes[found.counts[THREES]] = claim
        found.counts[THREES] += 1
    else:
        sides[:], reached[:] = found.sides[found.places[claim]], found.reached[found.places[claim]]
    c = counts_of(p, w, n_words, weight)
    scratch = scratch_for(c)
    while True:
        least, best, chosen = ENDLESS, ENDLESS, -1
        q = 0
        for column in range(len(allowed)):
            total, at_best = p.split, p.split
            for _ in range(p.firsts[column + 1] - p.firsts[column] + 1):
                total += sides[q]
                at_best += reached[q]
                q += 1
            if allowed[column]:
                least, upper = min(least, total), min(upper, at_best)
                if total < min(target, upper) and at_best < best:
                    best, chosen = at_best, column
        lower = max(lower, min(least, leaf))
        if lower >= min(target, upper) or chosen < 0:
            break
        known[:] = 0
        count_column(c, chosen, scratch, cost, known)
        for q in range(p.firsts[chosen] + chosen, p.firsts[chosen + 1] + chosen + 1):
            reached[q] = cost[q]
        rises = False
        for q in range(len(sides)):
            rises |= known[q] > sides[q]
            sides[q] = max(sides[q], known[q])
        if rises:
            link = found.counts[COLUMNS]
            found.counts[COLUMNS] += 1
            found.column_links[link, 0], found.column_links[link, 1] = chosen, found.columns[claim]
            found.columns[claim] = link
            found.known[link] = known
    found.lower[claim], found.upper[claim] = lower, upper
    found.sides[found.places[claim]], found.reached[found.places[claim]] = sides, reached


@native
def take_side(p, found, level, child, w):  # type: ignore[no-untyped-def]
    """What is known of a side is known of the claim of a frame: TRANSFER to all its sides."""
    q, sides, reached = found.frames[level, 3], found.frame_sides[level], found.frame_reached[level]
    claim = found.frames[level, 0]
    reached[q] = min(reached[q], found.upper[child])
    if found.lower[child] > sides[q]:
        lend_bound(p, found.lower[child], found.weights[child], found.rows[child], found.rows[claim], w, sides)
        add_anchor(found, claim, child)


@native
def open_frame(p, found, level, w):  # type: ignore[no-untyped-def]
    """Writes what is known of the sides of the claim of a frame."""
    claim, sides = found.frames[level, 0], found.frame_sides[level]
    depth, rows = found.depths[claim], found.rows[claim]
    reached, allowed = found.frame_reached[level], found.frame_allowed[level]
    floor, leaf, _, _ = open_sides(p, rows, depth, True, w, sides, reached, allowed)
    found.lower[claim], found.upper[claim] = max(floor, found.lower[claim]), min(leaf, found.upper[claim])
    found.frames[level, 2], found.frames[level, 5] = 1, leaf
    link = found.anchors[claim]
    while link >= 0:
        a = found.links[link, 0]
        lend_bound(p, found.lower[a], found.weights[a], found.rows[a], rows, w, sides)
        link = found.links[link, 1]


@native
def settle(p, found, level):  # type: ignore[no-untyped-def]
    """The column to look at, or -1 where the claim of a frame is as asked; its bounds follow from its sides."""
    claim, target, leaf = found.frames[level, 0], found.frames[level, 1], found.frames[level, 5]
    sides, reached, allowed = found.frame_sides[level], found.frame_reached[level], found.frame_allowed[level]
    least, upper, q = ENDLESS, found.upper[claim], 0
    best, best_total, chosen = ENDLESS, ENDLESS, -1
    for column in range(len(allowed)):
        total, at_best = p.split, p.split
        for _ in range(p.firsts[column + 1] - p.firsts[column] + 1):
            total += sides[q]
            at_best += reached[q]
            q += 1
        if not allowed[column]:
            continue
        least, upper = min(least, total), min(upper, at_best)
        if total < target and total < upper and (at_best < best or (at_best == best and total < best_total)):
            best, best_total, chosen = at_best, total, column
    found.upper[claim] = upper
    found.lower[claim] = max(found.lower[claim], min(least, leaf))
    return -1 if found.lower[claim] >= min(target, upper) else chosen


@native
def ask_side(p, found, level, column):  # type: ignore[no-untyped-def]
    """(the side of a column that is to be improved, and to what): the one whose bound is nearest to its best tree.

    What is soon shown of it need not be asked of the others, whose best trees would take long to be proved.
    """
    sides, reached = found.frame_sides[level], found.frame_reached[level]
    claim = found.frames[level, 0]
    total, chosen, begin = p.split, -1, p.firsts[column] + column
    for q in range(begin, begin + p.firsts[column + 1] - p.firsts[column] + 1):
        total += sides[q]
        gap = reached[q] - sides[q]
        if gap > 0 and (chosen < 0 or gap < reached[chosen] - sides[chosen]):
            chosen = q
    goal = min(found.frames[level, 1], found.upper[claim])
    return chosen, goal - total + (sides[chosen] if chosen >= 0 else 0)


@compiled
def improve(p, found, steps):  # type: ignore[no-untyped-def]
    """DONE when no frame is left; FULL where arrays have no room, PAUSED when there were as many steps."""
    w, counts = make_work(p), found.counts
    n_columns, n_literals = len(p.firsts) - 1, len(p.literals)
    known, cost = np.empty(n_literals, np.int64), np.empty(n_literals, np.int64)
    side = np.empty_like(p.everything)
    while counts[LEVEL] >= 0:
        level = counts[LEVEL]
        if counts[STEPS] >= steps:
            return PAUSED
        is_full = counts[CLAIMS] + 1 >= len(found.rows) or counts[LINKS] + SIMILAR >= len(found.links)
        is_full |= counts[THREES] + 1 >= len(found.threes) or level + 1 >= len(found.frames)
        if is_full or counts[COLUMNS] + n_columns >= len(found.known):
            return FULL
        counts[STEPS] += 1
        claim, target = found.frames[level, 0], found.frames[level, 1]
        column = -1
        if found.depths[claim] == 3:
            sides, reached = found.frame_sides[level], found.frame_reached[level]
            improve_three(p, found, claim, target, w, sides, reached, found.frame_allowed[level], known, cost)
        else:
            if not found.frames[level, 2]:
                open_frame(p, found, level, w)
            column = settle(p, found, level)
        if column < 0:
            counts[LEVEL] = level - 1
            if level:
                take_side(p, found, level - 1, claim, w)
            continue
        q, wanted = ask_side(p, found, level, column)
        if q < 0:  # the best tree of the column is known, and is what a claim of this frame costs at most
            continue
        for v in range(len(side)):
            side[v] = found.rows[claim, v] & p.literals[q, v]
        depth = found.depths[claim]
        child = claim_of(p, found, side, depth - (depth < UNLIMITED), claim, q)
        found.frames[level, 3] = q
        if found.lower[child] >= min(wanted, found.upper[child]):
            take_side(p, found, level, child, w)
            continue
        counts[LEVEL] = level + 1
        found.frames[level + 1, 0], found.frames[level + 1, 1], found.frames[level + 1, 2] = child, wanted, 0
    return DONE


@compiled
def unwind(p, found):  # type: ignore[no-untyped-def]
    """Leaves all frames, each of which passes what is shown of it to the one below."""
    w = make_work(p)
    while found.counts[LEVEL] >= 0:
        level = found.counts[LEVEL]
        claim = found.frames[level, 0]
        if found.frames[level, 2] and found.depths[claim] > 3:
            settle(p, found, level)
        if level:
            take_side(p, found, level - 1, claim, w)
        found.counts[LEVEL] = level - 1
