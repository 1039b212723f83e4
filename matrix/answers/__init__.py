"""What a user asks: what an error means, which reproducer a symptom fits, a report to file, the site."""
