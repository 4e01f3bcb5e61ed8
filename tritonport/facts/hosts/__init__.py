"""Facts about host code: what it may write, and which head-first copies it can share."""
