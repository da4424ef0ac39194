"""What may be known of how many tokens a request has still to emit: the lengths of others of its class.

Of a request that has emitted e tokens only those of its class that got further say anything. Its own length
is never among them. A class in which nobody else got that far is told by all others, and who has outlived
everybody is expected to end with its next token.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sched.log import Ints
from sched.workload import RequestList

Floats = NDArray[np.float64]


class Lengths(Protocol):
    """A belief about output lengths, in tokens."""

    def totals(self, request: Ints, emitted: Ints, share: Floats) -> Ints:
        """Output tokens in all at these quantiles, more than emitted; `share` has shape (draws, requests)."""

    def most(self, request: Ints, emitted: Ints) -> Ints:
        """The most that is thought possible, shape (requests,)."""


class ClassLengths:
    """The listed lengths of a request's class, its own left out."""

    def __init__(self, listed: RequestList) -> None:
        self.own, self.class_of = listed.output_tokens, listed.class_index
        classes = range(len(listed.class_names))
        self.sorted = [np.sort(self.own[self.class_of == one]) for one in classes]
        self.all = np.sort(self.own)

    def totals(self, request: Ints, emitted: Ints, share: Floats) -> Ints:
        """Quantiles of the lengths of those that got further, by class, else of all."""
        found = np.broadcast_to(emitted + 1, share.shape).copy()
        of = self.class_of[request]
        for one in np.unique(of).tolist():
            cells = np.flatnonzero(of == one)
            cells = self._fill(found, cells, self.sorted[one], request, emitted, share)
            self._fill(found, cells, self.all, request, emitted, share)
        return found

    def _fill(
        self, found: Ints, cells: Ints, lengths: Ints, request: Ints, emitted: Ints, share: Floats
    ) -> Ints:
        """Fill in the columns that these lengths can tell; the others are returned."""
        own = self.own[request[cells]]
        beyond = np.searchsorted(lengths, emitted[cells], "right")
        others = len(lengths) - beyond - (own > emitted[cells])
        told = others > 0
        some, beyond, others, own = cells[told], beyond[told], others[told], own[told]
        rank = beyond + np.minimum((share[:, some] * others).astype(np.int64), others - 1)
        # One's own place is stepped over; who has ended has none beyond.
        place = np.searchsorted(lengths, own)
        found[:, some] = lengths[np.minimum(rank + (rank >= place) * (place >= beyond), len(lengths) - 1)]
        left: Ints = cells[~told]
        return left

    def most(self, request: Ints, emitted: Ints) -> Ints:
        """The longest of those that got further."""
        found: Ints = self.totals(request, emitted, np.ones((1, len(request))))[0]
        return found


def draws(generator: Any, count: int, requests: int) -> Floats:
    """Quantiles that are evenly spread over each request and independent among them: (count, requests).

    `generator` is a `randomness.Stream`. Source: McKay, Beckman and Conover, Latin hypercube sampling, 1979.
    """
    order = np.argsort(generator.uniforms(count * requests).reshape(count, requests), axis=0)
    spread: Floats = (order + 0.5) / count
    return spread
