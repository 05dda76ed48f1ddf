"""One module per kube-scheduler plugin, named like it."""
