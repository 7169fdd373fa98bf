"""Du, Wang and Huang (AAMAS 2020) as experiments: ten panels, the readings, what they claim, and a verdict on each claim."""
