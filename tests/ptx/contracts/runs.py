"""As rung reordered, in longer loops."""

from neighbours_contract import IN_CELL_ORDER

CONTRACT = IN_CELL_ORDER
