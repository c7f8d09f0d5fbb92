"""What training needs around operations: recomputing activations."""
