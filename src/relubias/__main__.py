"""``python -m relubias`` is the command ``relubias``."""

from relubias.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
