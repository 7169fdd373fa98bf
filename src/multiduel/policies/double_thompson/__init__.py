"""Double Thompson sampling: D-TS, D-TS+ and MergeDTS."""
