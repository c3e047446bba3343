"""Every error a user can cause, in one tree.

A message says what is wrong, where, the rule, and what to do. The command line prints it as one
sentence and exits with code 2.
"""


class EgoScoreError(Exception):
    """Something is wrong with the request; defects of the program raise other errors."""


class InputError(EgoScoreError, ValueError):
    """The graph or its features cannot be used as they are."""


class ParameterError(EgoScoreError, ValueError):
    """A parameter breaks its rule. The parts are kept for messages that name it differently."""

    def __init__(self, name: str, rule: str, value: object, of: str = "EgoScore") -> None:
        super().__init__(f"The '{name}' parameter of {of} must be {rule}. Got {value!r} instead.")
        self.name, self.rule, self.value = name, rule, value


class DatasetError(EgoScoreError):
    """A data set is unknown or not found, or its file is damaged."""


class DeviceError(EgoScoreError):
    """The requested computing device is not available."""


class TrainingError(EgoScoreError):
    """Training diverged; the message says what to change."""


class RunError(EgoScoreError):
    """A run directory or a saved model does not fit the request, or is damaged."""


class VersionError(RunError):
    """A file was written by another version of egoscore, in a format that this one cannot read."""

    def __init__(self, what: str, found: object, known: int) -> None:
        super().__init__(
            f"{what} was written by another version of egoscore (format {found}, this version "
            f"reads {known}); use that version, or detect again and keep the result elsewhere."
        )
