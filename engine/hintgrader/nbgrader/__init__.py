"""Into and out of nbgrader: hand-ins, cells, the gradebook, feedback and exports."""
