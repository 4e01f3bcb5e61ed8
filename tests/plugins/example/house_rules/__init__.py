"""Rules that only this house needs. Every module here that defines RULE is one."""
