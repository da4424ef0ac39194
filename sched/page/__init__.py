"""The dashboard: one file a view."""
