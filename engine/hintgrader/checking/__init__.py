"""An answer is held to the checks of its exercise: drawn cases, comparison, invariants."""
