"""One thread per test process, as the detector itself uses; two processes share two cores."""

import torch

torch.set_num_threads(1)
