"""What people use today, put under the properties of the reference fixes: `nox -s peers` writes docs/peers.md."""
