"""Beside the chapter on long texts: short keys, sinks, packed texts, pages, and bounded scores."""
