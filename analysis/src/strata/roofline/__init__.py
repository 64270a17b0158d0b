"""Rooflines: ceilings, the points below them, and whether one lies above its roof."""
