"""For authors of exercises: lay one out, write the tables of parts, say what is missing."""
