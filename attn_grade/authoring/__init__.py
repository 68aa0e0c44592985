"""What an author of exercises needs: laying one out, tables of parts, and what is missing."""
