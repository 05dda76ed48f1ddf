"""Linear expressions over variable indexes: what constraints and objectives are written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(eq=False)
class Linear:
    """constant + sum of coeffs[i] x variable vars[i]; grows while a model is built."""

    vars: list[int] = field(default_factory=list)
    coeffs: list[int] = field(default_factory=list)
    constant: int = 0

    def add(self, variable: int, coeff: int = 1) -> None:
        """Add a variable."""
        self.vars.append(variable)
        self.coeffs.append(coeff)

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """A new expression: this one and a multiple of another one."""
        return Linear(
            [*self.vars, *other.vars],
            [*self.coeffs, *(factor * c for c in other.coeffs)],
            self.constant + factor * other.constant,
        )

    @property
    def is_constant(self) -> bool:
        """Whether there is nothing to decide."""
        return not self.vars

    def value(self, values: list[int]) -> int:
        """What it amounts to under an assignment."""
        chosen = (c * values[v] for v, c in zip(self.vars, self.coeffs, strict=True))
        return self.constant + sum(chosen)

    def evaluate(self, values: Mapping[int, int]) -> int:
        """The same where only some variables have values, this expression's among them."""
        chosen = (c * values[v] for v, c in zip(self.vars, self.coeffs, strict=True))
        return self.constant + sum(chosen)


def total(parts: Iterable[Linear]) -> Linear:
    """The sum of several expressions."""
    result = Linear()
    for part in parts:
        result.vars += part.vars
        result.coeffs += part.coeffs
        result.constant += part.constant
    return result
