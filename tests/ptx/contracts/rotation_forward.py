"""Rotations: each pixel is read once; the seed's tool reads four as a word, the best has four."""

from rotation_contract import rotation

CONTRACT = rotation((1, 4), (4, 1))
