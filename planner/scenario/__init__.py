"""What Kubernetes' controllers and kube-scheduler do by themselves after a change."""
