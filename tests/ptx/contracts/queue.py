"""Rows of cells, four agents of which are read at once, and hits that are put off."""

from neighbours_contract import QUEUED

CONTRACT = QUEUED
