"""Its presence as triton.backends.ascend tells triton-ascend from upstream's triton."""
