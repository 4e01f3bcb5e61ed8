"""A package with one operator, for the tests of the interpreter tiers."""
