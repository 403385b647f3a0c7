"""The enumeration of near-optimal trees: every vector of sums that a tree of a bounded cost has.

    entries(rows, depth, budget): for every key, the least value of a tree of cost <= budget, where
        key    the sums that tell trees apart
        value  one more sum, of which the least is wanted
        cost   a weighted sum of these, as given
    found = a leaf for each label
    for each column whose children cost at least L and R, with L + R + split <= budget:
        first = entries(left, depth - 1, budget - split - R)
        second = entries(right, depth - 1, budget - split - L)
        found += every sum of an entry of first, one of second and the branching node's own

Nothing below the budget is missing: if a tree of cost <= budget splits on the column, its left part costs at most
budget - split - R. L and R are lower bounds, most of them optima of linear solves. A limit on the branching nodes is
one more sum.

The recursion stands once (`near_optimal.py`), over whatever keeps the rows: bits of a packed problem
(`packed_rows.py`), or numbers of distinct rows for all else (`numbered_rows.py`). Tables of entries are maps from keys
to values (`entries.py`), those of depth two come from sums over pairs of columns (`shallow.py`). `vector_trees.py`
holds the trees of a problem of several sums, of which all of this is asked.
"""
