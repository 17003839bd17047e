"""Entry point of the `dispatchgen` command."""

from dispatchgen.cli import main

if __name__ == "__main__":
    main()
