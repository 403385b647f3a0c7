"""What threads that search the same rows tell each other about the node of all rows.

Each has bounds of its own of all thresholds, and takes a threshold that no other has taken; what it finds of both sides
is appended to a list, from which the others raise theirs. So nobody waits for anybody: who finds no threshold left but
those that others have taken is done, as bounds only rise and the incumbent only falls. A step that changes the list or
who has taken what is made under a lock, and only if nothing has changed since the thread looked.

Words of the shared array, int64: those of the head; for each thread the share, the column and the position of the
threshold that it has taken (NOTHING: none); for each way to share splits between the sides (`shares`) what is known of
all its thresholds; the list, six words an entry: share, thread, column, position and the bounds of both sides.
"""

from __future__ import annotations

from numba import int64

from streed.kernels.ordered.record import INFEASIBLE
from streed.kernels.simd import (
    load_acquire,
    load_atomic,
    lower_atomic,
    raise_atomic,
    store_release,
    swap_atomic,
)
from streed.kernels.views import native, vector
from streed.ordered.layout import (
    BEST,
    CEILING,
    CHANGES,
    ENTRY_WORDS,
    HEAD,
    LEADER,
    LEADER_COLUMN,
    LEADER_POSITION,
    LISTED,
    LOCK,
    LOW,
    NOTHING,
    SHALLOWEST,
    TAKEN_WORDS,
    WORDS,
)


@native
def shared_of(e):  # type: ignore[no-untyped-def]
    """The shared array."""
    return vector(e.shared, e.shared_words, int64)


@native
def taken_by(e, thread):  # type: ignore[no-untyped-def]
    """Where the threshold is written that a thread has taken."""
    return HEAD + TAKEN_WORDS * thread


@native
def known_of(e, share):  # type: ignore[no-untyped-def]
    """Where the bound of a share is."""
    return HEAD + TAKEN_WORDS * e.threads + share


@native
def entry_at(e, number):  # type: ignore[no-untyped-def]
    """Where an entry of the list begins."""
    return HEAD + TAKEN_WORDS * e.threads + e.shares + ENTRY_WORDS * number


@native
def is_shared(e, n):  # type: ignore[no-untyped-def]
    """Whether this is the node of all rows, and threads search it together."""
    return e.team == 1 and n == e.rows


@native
def lock(e):  # type: ignore[no-untyped-def]
    """Waits until no other thread holds the lock; it is held for a few steps at a time."""
    shared = shared_of(e)
    while not swap_atomic(shared, LOCK, int64(0), int64(1)):
        while load_atomic(shared, LOCK) != 0:
            pass


@native
def unlock(e):  # type: ignore[no-untyped-def]
    """Lets the others have the lock."""
    store_release(shared_of(e), LOCK, int64(0))


@native
def best_of_all(e):  # type: ignore[no-untyped-def]
    """What the best tree of any thread costs."""
    return load_atomic(shared_of(e), BEST)


@native
def lower_ceiling(e, upper):  # type: ignore[no-untyped-def]
    """Tells the others what a tree of depth two costs; what the best of theirs does."""
    shared = shared_of(e)
    lower_atomic(shared, CEILING, upper)
    return load_atomic(shared, CEILING)


@native
def tell_shallow(e, low, upper, plan, best):  # type: ignore[no-untyped-def]
    """Tells the others the bounds of this thread's part of the trees of depth two; `best`: the plan of all threads."""
    shared = shared_of(e)
    lock(e)
    shared[LOW] = min(shared[LOW], low)
    if upper < shared[SHALLOWEST]:
        shared[SHALLOWEST] = upper
        shared[LEADER] = e.thread
        shared[LEADER_COLUMN] = e.found_column
        shared[LEADER_POSITION] = e.found_position
    if improve_best(e, upper):
        for i in range(1 + WORDS * plan[0]):
            best[i] = plan[i]
    unlock(e)


@native
def begin_together(e):  # type: ignore[no-untyped-def]
    """(lower, upper) of the trees of depth two, with the split of the best one for the thread that found it."""
    shared = shared_of(e)
    column = shared[LEADER_COLUMN] if shared[LEADER] == e.thread else int64(NOTHING)
    return shared[LOW], load_atomic(shared, BEST), column, shared[LEADER_POSITION]


@native
def improve_best(e, upper):  # type: ignore[no-untyped-def]
    """Whether a tree of this cost is the best of all threads; to be asked under the lock."""
    shared = shared_of(e)
    if upper >= shared[BEST]:
        return False
    shared[BEST] = upper
    return True


@native
def write_taken(e, share, column, position):  # type: ignore[no-untyped-def]
    """Writes down what this thread has taken; to be called under the lock."""
    shared = shared_of(e)
    at = taken_by(e, e.thread)
    shared[at] = share
    shared[at + 1] = column
    shared[at + 2] = position
    store_release(shared, CHANGES, shared[CHANGES] + 1)


@native
def take_first(e, share, column, position):  # type: ignore[no-untyped-def]
    """Takes a threshold whatever others have taken: the split of the best tree of depth two."""
    lock(e)
    write_taken(e, share, column, position)
    unlock(e)


@native
def is_unchanged(e, seen, changes):  # type: ignore[no-untyped-def]
    """Whether nobody has listed or taken anything since."""
    shared = shared_of(e)
    return load_acquire(shared, CHANGES) == changes and load_acquire(shared, LISTED) == seen


@native
def take(e, seen, changes, share, column, position):  # type: ignore[no-untyped-def]
    """Whether the threshold is taken by this thread; no if anything has changed."""
    lock(e)
    same = is_unchanged(e, seen, changes)
    if same:
        write_taken(e, share, column, position)
    unlock(e)
    return same


@native
def leave(e, share, column, position, bound_left, bound_right):  # type: ignore[no-untyped-def]
    """Lists what is known of both sides of the threshold that this thread has taken, which is free then."""
    shared = shared_of(e)
    lock(e)
    number = shared[LISTED]
    at = entry_at(e, number)
    if at + ENTRY_WORDS <= e.shared_words:
        shared[at] = share
        shared[at + 1] = e.thread
        shared[at + 2] = column
        shared[at + 3] = position
        shared[at + 4] = bound_left
        shared[at + 5] = bound_right
        store_release(shared, LISTED, number + 1)
    shared[taken_by(e, e.thread)] = NOTHING
    store_release(shared, CHANGES, shared[CHANGES] + 1)
    unlock(e)


@native
def set_aside(e, share, left, right, kept):  # type: ignore[no-untyped-def]
    """Closes the thresholds that others have taken, whose bounds are kept; (changes so far, the least bound)."""
    shared = shared_of(e)
    changes = load_acquire(shared, CHANGES)
    least = int64(4 * INFEASIBLE)
    for thread in range(e.threads):
        at = taken_by(e, thread)
        kept[thread] = NOTHING
        column = load_atomic(shared, at + 1)
        position = load_atomic(shared, at + 2)
        # what is half written counts as a change
        if load_atomic(shared, at) == share and thread != e.thread and column >= 0:
            least = min(least, left[column, position] + right[column, position])
            kept[thread] = left[column, position]
            kept[e.threads + thread] = column
            kept[2 * e.threads + thread] = position
            left[column, position] = INFEASIBLE
    return changes, least


@native
def put_back(e, left, kept):  # type: ignore[no-untyped-def]
    """Undoes `set_aside`."""
    for behind in range(e.threads):
        thread = e.threads - 1 - behind
        if kept[thread] != NOTHING:
            left[kept[e.threads + thread], kept[2 * e.threads + thread]] = kept[thread]


@native
def tell_bound(e, share, bound):  # type: ignore[no-untyped-def]
    """Tells the others what all thresholds of a share cost at least."""
    raise_atomic(shared_of(e), known_of(e, share), bound)


@native
def bound_of_all(e, first_share, last_share):  # type: ignore[no-untyped-def]
    """What all thresholds of these shares cost at least, by what any thread has told."""
    shared = shared_of(e)
    found = int64(INFEASIBLE)
    for share in range(first_share, last_share + 1):
        found = min(found, load_atomic(shared, known_of(e, share)))
    return found
