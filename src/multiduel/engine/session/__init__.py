"""Ask and tell: a policy that people or programs talk to, its slates, the outcomes that it is told, and its snapshots."""
