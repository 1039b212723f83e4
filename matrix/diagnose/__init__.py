"""Ordered checks for vague symptoms, such as a loss that does not fall."""
