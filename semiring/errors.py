"""The root of every error this project raises on purpose, and the errors of this package."""

from __future__ import annotations


class LipstickError(Exception):
    """Base class: what failed, where, and what to do about it."""


class CapabilityError(LipstickError):
    """An operation that the semiring does not have (a monus, a tensor, a comparison)."""


class ValuationError(LipstickError):
    """A valuation that does not cover a token, or gives it a value outside the carrier."""


class AnnotationError(LipstickError):
    """A malformed token, annotation or annotation type, or data of another type."""


class ExactnessError(LipstickError):
    """An exact value that does not fit the type it was asked to be returned in."""
