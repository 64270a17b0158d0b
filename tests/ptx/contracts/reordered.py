"""Agents in the order of cells, each read at once."""

from neighbours_contract import IN_CELL_ORDER

CONTRACT = IN_CELL_ORDER
