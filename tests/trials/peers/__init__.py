"""Tests what people use today for the properties of the reference fixes."""
