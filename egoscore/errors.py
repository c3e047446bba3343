"""Every error a user can cause, in one tree.

A message says what is wrong, where, the rule, and what to do. The command line prints it as one
sentence and exits with code 2.
"""


class EgoScoreError(Exception):
    """Anything that is wrong with what was asked, as opposed to a defect of the program."""


class InputError(EgoScoreError, ValueError):
    """The network or its features cannot be used as they are."""


class ParameterError(EgoScoreError, ValueError):
    """A parameter has a value outside its rule. The parts are kept: others name it otherwise."""

    def __init__(self, name: str, rule: str, value: object, of: str = "EgoScore") -> None:
        super().__init__(f"The '{name}' parameter of {of} must be {rule}. Got {value!r} instead.")
        self.name, self.rule, self.value = name, rule, value


class DatasetError(EgoScoreError):
    """A data set is unknown, not to be found, or its file is damaged."""


class DeviceError(EgoScoreError):
    """The computing device asked for is not there."""


class TrainingError(EgoScoreError):
    """Training diverged; the message says what to change."""


class RunError(EgoScoreError):
    """A run directory or a saved model does not fit what was asked."""
