"""Rotations: each pixel is written once; the seed's tool writes four as a word."""

from rotation_contract import rotation

CONTRACT = rotation((4, 1), (1, 4))
