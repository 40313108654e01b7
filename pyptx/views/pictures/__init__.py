"""Pictures of what the manual says in prose: fragments, banks, the timeline of a CTA."""
