"""python -m fdmix: the command line."""

from fdmix.cli import main

main()
