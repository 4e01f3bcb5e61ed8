"""Stages, edits, gates and the line map: what applies rules safely, and knows nothing of any rule."""
