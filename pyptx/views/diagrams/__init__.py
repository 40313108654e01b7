"""Diagrams: matrix fragments, shared-memory banks, the timeline of a CTA."""
