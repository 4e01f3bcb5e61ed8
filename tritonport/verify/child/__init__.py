"""What runs inside a worker process: everything here may import torch, triton and numpy; nothing outside
may."""
