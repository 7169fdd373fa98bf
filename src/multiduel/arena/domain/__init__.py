"""What an arena is, without database or server: commands, events, the state that they add up to, the policy that chooses."""
