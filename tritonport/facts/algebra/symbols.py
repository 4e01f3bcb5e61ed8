"""Makes the symbols of the algebra, and folds quotients, remainders, minima and maxima where they have one value."""

from __future__ import annotations

from tritonport.facts.algebra.poly import ONE, ZERO, Poly, Symbol


def constexpr(name: str) -> Poly:
    """A compile-time parameter; sizes are positive, flags are 0 or 1, so zero bounds it from below."""
    return Poly.of(Symbol(name, "constexpr", name, lo=ZERO))


def parameter(name: str) -> Poly:
    """An integer that the host passes. A size: never negative."""
    return Poly.of(Symbol(name, "param", name, lo=ZERO))


def program_id(axis: str, size: str | None = None) -> Poly:
    """A program id; size: the parameter that every launch passes as the size of that grid axis."""
    label = f"program_id({axis})"
    return Poly.of(Symbol(label, "pid", label, lo=ZERO, hi=constexpr(size) - ONE if size else None))


def loaded(name: str, number: int) -> Poly:
    """One scalar read from memory: nothing is known of it."""
    return Poly.of(Symbol(f"load#{number}", "load", name or f"load#{number}", born=number))


def opaque(label: str, number: int) -> Poly:
    return Poly.of(Symbol(f"opaque#{number}:{label}", "opaque", label, born=number))


def loop(name: str, number: int, start: Poly, stop: Poly | None) -> Poly:
    """A loop variable that counts up from start to below stop."""
    hi = None if stop is None else stop - ONE
    return Poly.of(Symbol(f"loop#{number}:{name}", "loop", name, lo=start, hi=hi, born=number))


def join(name: str, test: str, then: Poly, other: Poly) -> Poly:
    """A number that is one thing where a test holds and another where it does not."""
    if then == other:
        return then
    lo = ZERO if all(_is_size(p) for p in (then, other)) else None
    key = f"join({test}; {then}; {other})"
    return Poly.of(Symbol(key, "join", name, lo=lo, parts=(then, other)))


def _is_size(poly: Poly) -> bool:
    return all(f > 0 and all(s.lo is not None for s in mono) for mono, f in poly.terms)


def _operation(name: str, *parts: Poly, lo: Poly | None = None, hi: Poly | None = None) -> Poly:
    label = f"{name}({', '.join(str(p) for p in parts)})"
    return Poly.of(Symbol(label, "op", label, lo=lo, hi=hi, parts=parts))


def floordiv(left: Poly, right: Poly) -> Poly:
    """left // right for right > 0, folded where the division is exact."""
    if left.value is not None and right.value:
        return Poly.const(left.value // right.value)
    if len(right.terms) == 1:
        whole, rest = left.quotient(right)
        if rest.is_zero:
            return whole
    remainder = _remainder_of(left, right)
    if remainder is not None:
        return remainder[0]
    return _operation("div", left, right, lo=ZERO if _is_size(left) else None, hi=_quotient_end(left, right))


def mod(left: Poly, right: Poly) -> Poly:
    """left % right for left >= 0 and right > 0, so between 0 and right - 1."""
    if left.value is not None and right.value:
        return Poly.const(left.value % right.value)
    if len(right.terms) == 1 and left.quotient(right)[1].is_zero:
        return ZERO
    return _operation("mod", left, right, lo=ZERO, hi=right - ONE)


def _remainder_of(left: Poly, right: Poly) -> tuple[Poly] | None:
    """(0,) when left is a remainder of division by right itself."""
    symbol = next(iter(left.symbols)) if left == Poly.of(next(iter(left.symbols), _NOTHING)) else None
    if symbol is not None and symbol.hi is not None and symbol.hi == right - ONE:
        return (ZERO,)
    return None


_NOTHING = Symbol("", "opaque", "")


def _quotient_end(left: Poly, right: Poly) -> Poly | None:
    """The last value of x // (A // B) for 0 <= x < A, with B dividing A: B - 1."""
    if len(left.terms) != 1 or len(right.terms) != 1:
        return None
    (mono, factor), (divisor, by) = left.terms[0], right.terms[0]
    if len(mono) != 1 or factor != 1 or len(divisor) != 1 or by != 1:
        return None
    count, group = mono[0], divisor[0]
    if count.hi is None or not group.key.startswith("div(") or group.parts[0] != count.hi + ONE:
        return None
    return group.parts[1] - ONE


def cdiv(left: Poly, right: Poly) -> Poly:
    if left.value is not None and right.value:
        return Poly.const(-(-left.value // right.value))
    size = _is_size(left)
    return _operation("cdiv", left, right, lo=ZERO if size else None, hi=left if size else None)


def minimum(left: Poly, right: Poly) -> Poly:
    if left == right:
        return left
    parts = sorted((left, right), key=str)
    both = all(_is_size(p) for p in parts)
    return _operation("min", *parts, lo=ZERO if both else None, hi=_constant_end(parts))


def maximum(left: Poly, right: Poly) -> Poly:
    if left == right:
        return left
    parts = sorted((left, right), key=str)
    return _operation("max", *parts, lo=ZERO if any(_is_size(p) for p in parts) else None)


def _constant_end(parts: list[Poly]) -> Poly | None:
    return next((p for p in parts if all(s.kind == "constexpr" for s in p.symbols)), None)


def operation(name: str, *parts: Poly) -> Poly:
    """Any other function of numbers, known only by its operands."""
    return _operation(name, *parts)
