"""The records of the claims that a proof needs, each after those that it rests on, as the numbers of a file."""

from __future__ import annotations

import numpy as np

from streed.proof.counting import compiled, native
from streed.proof.judge import least_split, lend_bound, lend_sides
from streed.proof.packed import make_work
from streed.proof.sides import open_sides


@native
def length_of(found, link, by_columns):  # type: ignore[no-untyped-def]
    """How many links begin with one."""
    links, count = found.column_links if by_columns else found.links, 0
    while link >= 0:
        count += 1
        link = links[link, 1]
    return count


@native
def trim(p, found, claim, kept, w, first, allowed):  # type: ignore[no-untyped-def]
    """Marks in `kept` which columns, and behind them which anchors, a claim's bound needs: anchors are left out first.

    Those that lent their sides keep all.
    """
    rows, depth, bound = found.rows[claim], found.depths[claim], found.lower[claim]
    n_columns = length_of(found, found.columns[claim], True)
    count = n_columns + length_of(found, found.anchors[claim], False)
    kept[:count] = True
    if found.lent[claim] or count == 0:
        return n_columns, count
    reached = np.empty(len(first), np.int64)
    floor, _, _, _ = open_sides(p, rows, depth, False, w, first, reached, allowed)
    if floor >= bound and depth > 3:
        kept[:count] = False
        return n_columns, count
    known = np.zeros((count, len(first)), np.int64)
    at, link = n_columns, found.columns[claim]
    while link >= 0:  # the last column is the first of the links
        at -= 1
        known[at] = found.known[link]
        link = found.column_links[link, 1]
    at, link = count, found.anchors[claim]
    while link >= 0:
        at -= 1
        a = found.links[link, 0]
        if depth == 3:
            lend_sides(p, found.sides[found.places[a]], found.rows[a], rows, w, known[at])
        else:
            lend_bound(p, found.lower[a], found.weights[a], found.rows[a], rows, w, known[at])
        link = found.links[link, 1]
    before = np.empty((count + 1, len(first)), np.int64)
    before[0] = first
    for at in range(count):
        before[at + 1] = np.maximum(before[at], known[at])
    behind = first.copy()
    for at in range(count - 1, -1, -1):
        sides = np.maximum(before[at], behind)
        kept[at] = least_split(p, sides, allowed) < bound
        if kept[at]:
            behind = np.maximum(behind, known[at])
    return n_columns, count


@compiled
def order_claims(p, found, roots):  # type: ignore[no-untyped-def]
    """(claims in the order of a proof; where what each keeps begins; which anchors and columns that are)."""
    n_claims = found.counts[0]
    place, begins = np.full(n_claims, -1), np.full((n_claims, 3), -1)
    order, kept_items = np.empty(n_claims, np.int64), np.empty(found.counts[1] + found.counts[4], np.int64)
    stack = np.empty(2 * n_claims + found.counts[1] + len(roots), np.int64)
    kept = np.empty(found.counts[1] + found.counts[4] + 1, np.bool_)
    w, first = make_work(p), np.empty(len(p.literals), np.int64)
    allowed = np.empty(len(p.firsts) - 1, np.bool_)
    top, count, used = 0, 0, 0
    for root in roots[::-1]:
        stack[top] = root
        top += 1
    while top:
        top -= 1
        claim = stack[top]
        if claim < 0:
            claim = -1 - claim
            place[claim] = count
            order[count] = claim
            count += 1
            continue
        if begins[claim, 0] >= 0:
            continue
        n_columns, n_all = trim(p, found, claim, kept, w, first, allowed)
        stack[top] = -1 - claim
        top += 1
        begins[claim, 0] = used
        at, link = n_columns, found.columns[claim]
        while link >= 0:
            at -= 1
            if kept[at]:
                kept_items[used] = found.column_links[link, 0]
                used += 1
            link = found.column_links[link, 1]
        begins[claim, 1] = used
        at, link = n_all, found.anchors[claim]
        while link >= 0:
            at -= 1
            if kept[at]:
                kept_items[used] = found.links[link, 0]
                used += 1
                if begins[found.links[link, 0], 0] < 0:
                    stack[top] = found.links[link, 0]
                    top += 1
            link = found.links[link, 1]
        begins[claim, 2] = used
    return order[:count], place, begins, kept_items


@compiled
def write_numbers(found, order, place, begins, kept_items, column_of, code_of, name_of):  # type: ignore[no-untyped-def]
    """The numbers of a file: of claims in order, with columns and codes of literals (Q,) and names of places (P,)."""
    size = 0
    for claim in order:
        size += 5 + begins[claim, 2] - begins[claim, 0]
        at = claim
        while found.parents[at] >= 0:
            size += 2
            at = found.parents[at]
    numbers, n = np.empty(size, np.int64), 0
    for number in range(len(order)):
        claim = order[number]
        start, at = n, claim
        n += 1
        while found.parents[at] >= 0:
            numbers[n], numbers[n + 1] = column_of[found.literals[at]], code_of[found.literals[at]]
            n += 2
            at = found.parents[at]
        numbers[start] = (n - start - 1) // 2
        numbers[n], numbers[n + 1] = found.depths[claim], found.lower[claim]
        numbers[n + 2] = begins[claim, 2] - begins[claim, 1]
        n += 3
        for k in range(begins[claim, 1], begins[claim, 2]):
            numbers[n] = number - place[kept_items[k]]
            n += 1
        if found.depths[claim] == 3:
            numbers[n] = begins[claim, 1] - begins[claim, 0]
            n += 1
            for k in range(begins[claim, 0], begins[claim, 1]):
                numbers[n] = name_of[kept_items[k]]
                n += 1
    return numbers[:n]
