"""The report on a class and a problem set, as one page for instructors."""
