"""RMED and its relatives: the least number of duels that refutes every arm but one (Komiyama, Honda, Nakagawa)."""
