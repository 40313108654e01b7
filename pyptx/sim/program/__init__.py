"""Programs: decoded actions, control flow and action templates, as both engines run them."""
