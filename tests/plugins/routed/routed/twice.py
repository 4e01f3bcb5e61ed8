"""Decays twice, through another function."""

from routed.dispatching import routed
from routed.rows import decay


@routed
def decay_twice(src, size):
    return decay(decay(src, size), size)
