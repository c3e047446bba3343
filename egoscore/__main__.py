"""`python -m egoscore`."""

from egoscore.cli import main

if __name__ == "__main__":
    main()
