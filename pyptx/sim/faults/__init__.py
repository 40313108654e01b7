"""Fault messages of both engines, deadlock reports included."""
