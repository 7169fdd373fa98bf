"""The imperative shell around the kernels: policies to talk to, and a simulator."""
