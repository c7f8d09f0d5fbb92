"""From a library's file to a Python object whose methods are the provider's slots."""
