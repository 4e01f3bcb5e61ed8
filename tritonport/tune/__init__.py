"""Search of tiles and rules against the compiler, and what each rule does (ablation)."""
