"""The index algebra: what every address and every compare of one kernel is, as polynomials.

`analyse(function)` interprets one jit function of a LibCST tree once, forwards; its facts are keyed by the nodes of
that very tree. `accesses(facts)` splits every load and store into a scalar offset and a stride per tile dimension.
"""

from tritonport.facts.algebra.accesses import Access, Address, accesses
from tritonport.facts.algebra.facts import Def, KernelFacts
from tritonport.facts.algebra.interpret import analyse
from tritonport.facts.algebra.poly import Poly, Symbol

__all__ = ["Access", "Address", "Def", "KernelFacts", "Poly", "Symbol", "accesses", "analyse"]
