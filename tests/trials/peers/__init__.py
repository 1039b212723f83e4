"""Tests popular libraries for the properties of the reference fixes."""
