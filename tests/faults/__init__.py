"""Seeded faults: a small real pipeline runs under a drawn fault, then again without it, and must end as an uninterrupted one."""
