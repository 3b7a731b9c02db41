"""Runs as pages: one file each, without network access, scripts or anything that is fetched."""
