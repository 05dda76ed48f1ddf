"""The greedy kube-scheduler: one pod at a time, decided as Kubernetes v1.36 decides."""
