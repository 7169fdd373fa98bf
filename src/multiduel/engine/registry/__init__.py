"""Find policies by name: those of multiduel and of plug-ins, their parameters, and which of them to use."""
