"""The roster of a class, as spreadsheets write it."""
