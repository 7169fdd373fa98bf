"""DueDuel, our own policy: the rule, what it keeps, and how it knows when an arm is due."""
