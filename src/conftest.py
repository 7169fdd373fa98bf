"""For the doctests of the sources."""

# The package imports this module while pytest is about to import it for its doctests, and then it would be there twice: machines
# registered with one, the examples asking the other.
import multiduel.machines.contract  # noqa: F401
