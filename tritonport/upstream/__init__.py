"""New releases of a distribution: which there are, and what each changes for the kernels."""
