"""Train language models on any accelerator whose vendor ships one shared library."""
