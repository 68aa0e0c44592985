"""The exercises of the course: one package a problem set, one module an exercise."""
