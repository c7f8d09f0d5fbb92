"""The `infinitrain` command."""
