"""From an entry to its import closure, kernels, launch sites and what is reachable. Reads source with `ast`; runs nothing."""
