"""The watch inside pytest, Lightning and transformers."""
