"""`python -m tritonport`."""

import sys

from tritonport.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
