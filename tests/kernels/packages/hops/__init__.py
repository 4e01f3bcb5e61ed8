"""A small package whose helpers are reached by way of other modules than those that define them."""

from .near import flat, other

__all__ = ["flat", "other"]
