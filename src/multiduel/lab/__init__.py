"""For researchers: what to make of simulations. So far a summary table, the regret figure, and files written whole."""
