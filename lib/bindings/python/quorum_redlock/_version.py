"""The version of this package, the same as that of the library: see include/redlock/version.hpp."""

__version__ = "0.1.0"
