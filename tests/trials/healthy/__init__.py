"""What the watch says while healthy training programs of other people run."""
