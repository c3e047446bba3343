"""Code written for PyGOD's detectors runs with EgoScore. Needs torch_geometric."""

import torch
from torch_geometric.data import Data

from egoscore import EgoScore

torch.manual_seed(0)
data = Data(x=torch.randn(150, 8), edge_index=torch.randint(0, 150, (2, 500)))

detector = EgoScore(contamination=0.05, gpu=-1)
detector.fit(data)
pred, score, prob, conf = detector.predict(
    data, return_pred=True, return_score=True, return_prob=True, return_conf=True
)
print("flagged:", pred.nonzero().flatten().tolist())
print("highest score:", round(float(score.max()), 3), "probability:", float(prob.max()))
