"""Files that go in and out: votes, printed tickets, logs, and what is worked out from a log (verification, replays, problems)."""
