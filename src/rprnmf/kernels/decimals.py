"""Decimal numbers in text to the nearest floating point number.

Up to 19 digits by the method of D. Lemire, Number Parsing at a Gigabyte per Second, Software:
Practice and Experience 51 (2021): one product of the digits with a power of five, of which 128
bits are tabled.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from rprnmf.kernels import inner

LOWEST, HIGHEST = -342, 308  # powers of ten that a float64 of 19 digits may need
MOST_DIGITS = 19
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
#: the bits below the ones that are kept: if all are set, the product needs its second half
BELOW = np.uint64(0x1FF)
ONE, THREE = np.uint64(1), np.uint64(3)


class Powers(NamedTuple):
    """Powers of five from `LOWEST` to `HIGHEST`: the first 128 bits, and exact small tens."""

    high: ndarray
    low: ndarray
    tens: ndarray


def powers() -> Powers:
    """The table that `decimal` needs."""
    bits = []
    for q in range(LOWEST, HIGHEST + 1):
        five = 5 ** abs(q)
        if q >= 0:
            value = five << 128 >> five.bit_length()
        else:
            z = (five - 1).bit_length()
            value = (1 << (2 * z + 128)) // five + 1 if q < -27 else (1 << (z + 127)) // five + 1
            value >>= max(value.bit_length() - 128, 0)
        bits.append(value)
    high, low = ([value >> shift & (2**64 - 1) for value in bits] for shift in (64, 0))
    tens = [10.0**k for k in range(23)]
    return Powers(np.array(high, np.uint64), np.array(low, np.uint64), np.array(tens))


@inner
def product(a, b):
    """The 128 bits of a b: high and low."""
    a1, a0, b1, b0 = a >> HALF, a & LOW, b >> HALF, b & LOW
    low, one, two = a0 * b0, a1 * b0, a0 * b1
    middle = (low >> HALF) + (one & LOW) + (two & LOW)
    high = a1 * b1 + (one >> HALF) + (two >> HALF) + (middle >> HALF)
    return high, (middle << HALF) | (low & LOW)


@inner
def scaled(digits, power, table):
    """The float64 nearest to digits 10^power; NaN where this method cannot tell."""
    if digits == 0:
        return 0.0
    if digits < np.uint64(1 << 53) and -22 <= power <= 22:  # both are exact, so one rounding
        if power < 0:
            return float(digits) / table.tens[-power]
        return float(digits) * table.tens[power]
    if power < LOWEST or power > HIGHEST:
        return np.nan
    zeros = 0
    w = digits
    while w < np.uint64(1 << 63):
        w <<= ONE
        zeros += 1
    high, low = product(w, table.high[power - LOWEST])
    if (high & BELOW) == BELOW:
        more, _ = product(w, table.low[power - LOWEST])
        low += more
        if more > low:
            high += ONE
    upper = np.int64(high >> np.uint64(63))
    shift = np.uint64(upper + 9)
    mantissa = high >> shift
    exponent = ((217706 * power) >> 16) + 1086 + upper - zeros
    if exponent <= 0 or exponent >= 2046:  # subnormal, or near overflow
        return np.nan
    if low <= ONE and -4 <= power <= 23 and (mantissa & THREE) == ONE:
        if (mantissa << shift) == high:  # half way: to even
            mantissa -= ONE
    mantissa = (mantissa + (mantissa & ONE)) >> ONE
    return math.ldexp(float(mantissa), exponent - 1075)


@inner
def decimal(buffer, at, point, table):
    """The number that begins at ``at``: digits, perhaps a point, digits, an exponent; no sign.

    Returns the number and where it ends; the end is -1 if there is none, or none that this can
    read. The buffer must hold another byte than a digit behind it.
    """
    begin = at
    digits = np.uint64(0)
    count = 0  # significant digits
    power = np.int64(0)
    seen = 0
    after = False
    while True:
        c = np.int64(buffer[at])
        if 48 <= c <= 57:
            seen += 1
            if count > 0 or c != 48:
                count += 1
            if count <= MOST_DIGITS:
                digits = digits * np.uint64(10) + np.uint64(c - 48)
            if after:
                power -= 1
        elif c == point and not after:
            after = True
        else:
            break
        at += 1
    if seen == 0 or count > MOST_DIGITS or at - begin > 400:
        return np.nan, -1
    c = np.int64(buffer[at])
    if c == 101 or c == 69:  # e, E
        at += 1
        c = np.int64(buffer[at])
        minus = c == 45
        if c == 45 or c == 43:
            at += 1
        exponent = np.int64(0)
        first = at
        while 48 <= buffer[at] <= 57 and at - first < 5:
            exponent = 10 * exponent + np.int64(buffer[at]) - 48
            at += 1
        if at == first or at - first > 4:
            return np.nan, -1
        power += -exponent if minus else exponent
    value = scaled(digits, power, table)
    return value, at if value == value else -1
