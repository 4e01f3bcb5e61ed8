"""What the library knows of the machine."""

IS_NPU = True
device_platform = "cpu"
