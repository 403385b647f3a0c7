"""The native table recursions: near-optimal trees by their sums, fronts, and numbers of trees.

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
budget - split - R. A limit on the branching nodes is one more sum. Fronts keep the nondominated keys instead (STreeD,
Eq. 3, 6, 7, 8), and counts how many trees have each.
"""
