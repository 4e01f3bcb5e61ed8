"""What runs inside a worker process on a device. The kinds of device differ in `backends` alone."""
