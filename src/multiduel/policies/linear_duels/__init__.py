"""Policies that know the options by features: utilities are linear in them, and duels follow the utilities."""
