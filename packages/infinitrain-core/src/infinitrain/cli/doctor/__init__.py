"""`infinitrain doctor`: why a device does not show up, and the command that mends it."""
