"""Figures that redraw a figure of a paper with the numbers of a run; a page folds them."""
