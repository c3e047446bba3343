"""`python -m egoscore`."""

from egoscore.cli import program

if __name__ == "__main__":
    program()
