"""As rung queue, among agents in cell order."""

from neighbours_contract import QUEUED

CONTRACT = QUEUED
