"""Rooflines: ceilings, the points below them, and whether any is above its roof."""
