"""``python -m multiduel`` is the command ``multiduel``."""

from multiduel.cli import main

if __name__ == "__main__":
    main()
