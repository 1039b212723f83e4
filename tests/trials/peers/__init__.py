"""What people use today, put under the properties of the reference fixes."""
