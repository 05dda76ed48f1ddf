"""The CP-SAT model: variables, one encoding per rule, the objectives, one call of the solver."""
