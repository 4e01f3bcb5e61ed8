"""The interpreter with the target's traps switched on: what would go wrong on hardware and shows nowhere
else."""
