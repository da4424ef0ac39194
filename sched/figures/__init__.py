"""Data in, pictures out: what a run looks like, before any page."""
