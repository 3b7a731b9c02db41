"""Meaning: what a document says about loaders, devices, modules and transfers."""
