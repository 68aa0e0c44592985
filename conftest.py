"""What the tests and the kernels of the chapters start with, however pytest is called."""

import os

# One thread keeps sums, and so stored outputs, the same; more of them, in several kernels at once,
# wait for each other: minutes become a quarter of an hour. Set before anything imports torch.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
