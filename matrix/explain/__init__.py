"""What a user asks: what an error means, which reproducer a symptom matches, a report, the site."""
