"""From the archives of learning systems to submissions."""
