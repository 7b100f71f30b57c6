"""python -m fdmix: the command line."""

from fdmix.cli import main

if __name__ == "__main__":
    main()
