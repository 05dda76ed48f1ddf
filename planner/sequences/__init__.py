"""From a wanted final state to steps that kube-scheduler takes."""
