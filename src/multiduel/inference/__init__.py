"""What may be said from answers whose slates were chosen along the way: evidence, intervals, verdicts, how many more."""
