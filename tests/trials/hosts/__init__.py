"""The reference fixes inside released trainers: what each computes is compared with the host."""
