"""How fast the parts are, next to those of others."""
