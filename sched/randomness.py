"""Named streams of random numbers that are the same, bit for bit, on every machine.

Uniforms come from raw PCG64 bits and the laws are our own inverses, made of products, sums, divisions and
square roots only: NumPy may change its streams with a version, and `log` or `exp` differ between processors
and libraries. One stream a purpose, so that a slider for one thing never reshuffles another. All is float64,
shape (n,).
"""

import hashlib
from typing import Any

import numpy as np
from numpy.random import PCG64

Floats = np.ndarray[Any, np.dtype[np.float64]]

_LN2_HIGH = 0.693147180369123816490  # upper 33 bits of ln 2: its product with an exponent is exact
_LN2_LOW = 1.90821492927058770002e-10
_SQRT_HALF = 0.70710678118654752440
NEGLIGIBLE_CV = 1e-17
"""A gamma law with less spread than this is its mean, as far as a float can tell; its shape overflows."""
_SQUEEZE = 0.0331  # Marsaglia and Tsang's quick acceptance, which spares most logarithms


def natural_log(x: Floats) -> Floats:
    """Natural logarithm of positive numbers, within 2 units in the last place."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < _SQRT_HALF
    mantissa = np.where(low, mantissa + mantissa, mantissa)
    power = (exponent - low).astype(np.float64)
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    series = np.full_like(square, 1.0 / 23.0)
    for odd in range(21, 1, -2):
        series *= square
        series += 1.0 / odd
    series *= square
    series *= ratio + ratio
    series += ratio + ratio
    series += power * _LN2_LOW
    series += power * _LN2_HIGH
    return series


def exponential(x: Floats) -> Floats:
    """e to the x, within 2 units in the last place; 0 below -745 and infinite above 709."""
    clipped = np.clip(x, -746.0, 710.0)
    power = np.rint(clipped * 1.44269504088896340736)
    rest = clipped - power * _LN2_HIGH
    rest -= power * _LN2_LOW
    series = np.full_like(rest, 1.0 / 14.0)
    for term in range(13, 0, -1):
        series *= rest
        series += 1.0
        series *= 1.0 / term
    series *= rest
    series += 1.0
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(series, power.astype(np.int32))


def sine_of_turn(turns: Floats) -> Floats:
    """Sine of 2 pi times the argument (whole turns do not matter), within 1e-13."""
    reduced = turns - np.floor(turns)
    reduced = np.where(reduced > 0.5, 0.5 - reduced, reduced)
    flipped = np.where(np.abs(reduced) > 0.25, np.sign(reduced) * 0.5 - reduced, reduced)
    angle = flipped * 6.283185307179586
    square = angle * angle
    series = np.ones_like(angle)
    for odd in range(23, 1, -2):
        series *= square
        series *= -1.0 / (odd * (odd - 1))
        series += 1.0
    series *= angle
    return series


_CENTRE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
_SHOULDER = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


def _ratio(tables: tuple[tuple[float, ...], tuple[float, ...]], x: Floats) -> Floats:
    """A rational function, coefficients from the highest power down."""
    above, below = np.full_like(x, tables[0][0]), np.full_like(x, tables[1][0])
    for upper, lower in zip(tables[0][1:], tables[1][1:], strict=True):
        above *= x
        above += upper
        below *= x
        below += lower
    above /= below
    return above


def normal_quantile(uniform: Floats) -> Floats:
    """The standard normal value below which a share `uniform` lies, within 1e-15 relative.

    Source: Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37, 1988.
    """
    centred = uniform - 0.5
    inside = np.abs(centred) <= 0.425
    result = np.empty_like(uniform)
    middle = centred[inside]
    result[inside] = middle * _ratio(_CENTRE, 0.180625 - middle * middle)
    outer = uniform[~inside]
    if outer.size:
        depth = np.sqrt(-natural_log(np.minimum(outer, 1.0 - outer)))
        far = depth > 5.0
        size = _ratio(_SHOULDER, depth - 1.6)
        if far.any():
            size[far] = _ratio(_TAIL, depth[far] - 5.0)
        result[~inside] = np.where(outer < 0.5, -size, size)
    return result


class Stream:
    """One source of random numbers; each call goes on where the last one ended."""

    __slots__ = ("_bits", "_children", "_key")

    def __init__(self, key: str) -> None:
        self._key = key
        self._bits: PCG64 | None = None
        self._children: dict[str, Stream] = {}

    def child(self, name: str) -> "Stream":
        """A further independent stream, for a law that needs more than one number an item."""
        if name not in self._children:
            self._children[name] = Stream(f"{self._key}/{name}")
        return self._children[name]

    def uniforms(self, count: int) -> Floats:
        """Numbers strictly between 0 and 1, from the upper 52 of each 64 raw bits."""
        if self._bits is None:
            self._bits = PCG64(int.from_bytes(hashlib.sha256(self._key.encode()).digest(), "big"))
        upper = np.right_shift(self._bits.random_raw(count), np.uint64(12)).astype(np.float64)
        upper += 0.5
        upper *= 2.0**-52
        return upper

    def exponentials(self, count: int) -> Floats:
        """Exponential with mean 1."""
        return -natural_log(self.uniforms(count))

    def normals(self, count: int) -> Floats:
        """Standard normal."""
        return normal_quantile(self.uniforms(count))

    def gammas(self, count: int, shape: float) -> Floats:
        """Gamma with this shape and mean `shape`.

        Item i comes from the i-th numbers of the streams unless it is rejected (some per cent), so that a
        slider for the shape moves most items smoothly. Source: Marsaglia and Tsang, ACM TOMS 26, 2000.
        """
        centre = (shape if shape >= 1.0 else shape + 1.0) - 1.0 / 3.0
        slope = 1.0 / np.sqrt(9.0 * centre)
        result = np.empty(count)
        open_items = np.arange(count)
        normals, uniforms = self.child("normal"), self.child("uniform")
        while open_items.size:
            z, u = normals.normals(open_items.size), uniforms.uniforms(open_items.size)
            root = 1.0 + slope * z
            cube = root * root * root
            square = z * z
            accepted = (cube > 0.0) & (u < 1.0 - _SQUEEZE * square * square)
            unsure = np.flatnonzero((cube > 0.0) & ~accepted)
            v = cube[unsure]
            bound = 0.5 * square[unsure] + centre * (1.0 - v + natural_log(v))
            accepted[unsure] = natural_log(u[unsure]) < bound
            result[open_items[accepted]] = centre * cube[accepted]
            open_items = open_items[~accepted]
            normals, uniforms = self.child("again normal"), self.child("again uniform")
        if shape < 1.0:
            result *= exponential(natural_log(self.child("boost").uniforms(count)) * (1.0 / shape))
        return result

    def geometrics(self, count: int, mean: float) -> Floats:
        """Whole numbers from 1 up, each further one with the same chance."""
        if mean <= 1.0:
            return np.ones(count)
        below = natural_log(np.array([1.0 - 1.0 / mean]))[0]
        trials: Floats = np.floor(natural_log(self.uniforms(count)) / below) + 1.0
        return trials


def stream(seed: int, *names: str) -> Stream:
    """The stream of this seed for one purpose, such as `stream(7, "chat", "prompts")`."""
    return Stream("/".join((str(seed), *(f"{len(name)}:{name}" for name in names))))
