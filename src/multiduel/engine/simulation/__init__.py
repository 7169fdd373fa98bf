"""Play a policy against a world, many times: worlds, seeds, the compiled loop, runs, and the result."""
