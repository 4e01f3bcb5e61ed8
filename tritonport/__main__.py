"""`python -m tritonport`."""

from tritonport.cli.app import main

if __name__ == "__main__":
    main()
