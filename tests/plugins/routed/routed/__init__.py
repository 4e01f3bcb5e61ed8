"""A library of one kernel whose host functions are handed to backends, by operation and by function."""
