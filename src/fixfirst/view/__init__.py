"""The web viewer and the reports."""
