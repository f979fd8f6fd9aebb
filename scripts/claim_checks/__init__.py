"""Public claims by the kind of text that makes them; scripts/claims runs them."""
