"""Programs of the house, in rooms by purpose; call one with `python -m tools.ROOM.PROGRAM`."""
