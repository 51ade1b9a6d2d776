"""What the property tests draw from: exact rationals over the ranges that the library promises."""

from fractions import Fraction

from hypothesis import strategies as st

supports = st.integers(1, 60)


def decimals(low: int, high: int, digits: int = 6) -> st.SearchStrategy[Fraction]:
    """Positive decimals of a few digits, spread evenly over the powers of ten from low to high."""
    return st.builds(
        lambda mantissa, exponent: Fraction(mantissa) * Fraction(10) ** (exponent - digits),
        st.integers(10 ** (digits - 1), 10**digits - 1),
        st.integers(low + 1, high),
    )


gammas = decimals(-6, 1)
epsilons = decimals(-4, 1)
proportions = st.builds(lambda k: Fraction(k, 10**6), st.integers(1, 10**6 - 1))
"""From 1e-6 to 0.999999, as the variance may be of its bound."""


@st.composite
def noises(draw: st.DrawFn, tail: int = 650) -> tuple[int, Fraction]:
    """(support, gamma) whose p(D) float64 can hold: γD² stays below ``tail``."""
    support = draw(supports)
    gamma = draw(gammas)
    return support, min(gamma, Fraction(tail, support**2))


@st.composite
def near_kinks(draw: st.DrawFn) -> tuple[int, Fraction, Fraction]:
    """(support, gamma, epsilon) with ε on a kink γ(1 − 2z) of δ, or a hair's breadth from one."""
    support, gamma = draw(noises())
    z = draw(st.integers(-support - 1, 0))
    shift = draw(st.sampled_from([0, 1, -1])) * Fraction(10) ** draw(st.integers(-40, -3))
    return support, gamma, min(gamma * (1 - 2 * z) * (1 + shift), Fraction(500))
