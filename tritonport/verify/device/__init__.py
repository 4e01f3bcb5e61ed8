"""The tiers that need a device: originals and migrated kernels on one GPU, goldens replayed on an NPU."""
