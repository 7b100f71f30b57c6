"""The passes of a fit as scikit-learn's callbacks see them: progress bars, monitors, early stopping."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fdmix.documents.document_fit import Refinement
from fdmix.fit.solution import Progress, Solution

__all__ = ["CallbackSupportMixin", "Printer", "Watch", "heard_by", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's, and says what is missing."""

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Not before scikit-learn 1.9."""
            raise ImportError(
                "set_callbacks needs scikit-learn 1.9: pip install -U scikit-learn. "
                "Any version takes a function, FDM(callback=...)"
            )

    def with_callbacks(method: Any) -> Any:
        """Nothing to set up or tear down."""
        return method


class Printer:
    """Prints how a fit goes, as `verbose=` of scikit-learn's estimators does.

    verbose : 1 prints a line for each phase, 2 or more a line for each pass
    """

    def __init__(self, verbose: int) -> None:
        self.verbose, self.begin = verbose, time.monotonic()
        self.last: Progress | Refinement | None = None

    def __call__(self, now: Progress | Refinement) -> None:
        """After a pass, or after sweeps."""
        if self.last is not None and self.last.phase != now.phase and self.verbose == 1:
            self._print(self._line(self.last))
        self.last = now
        if self.verbose > 1:
            self._print(self._line(now))

    def close(self, reason: str) -> None:
        """The fit has ended."""
        if self.last is not None and self.verbose == 1:
            self._print(self._line(self.last))
        if self.verbose:
            self._print(f"{reason}, {self._seconds()}")

    def _line(self, now: Progress | Refinement) -> str:
        if isinstance(now, Progress):
            done, score = f"{now.phase_passes} passes over pairs", f"log-likelihood {now.log_likelihood:.4f}"
        else:
            where = {"passes": "passes over documents", "sampling": "sweeps over documents"}.get(now.phase, "passes")
            done, score = f"{now.passes} of at most {now.of} {where}", f"completion {now.score:.4f}"
        return f"{now.phase}: {done}, {score}, {self._seconds()}"

    def _seconds(self) -> str:
        return f"{time.monotonic() - self.begin:.1f} s"

    def _print(self, line: str) -> None:
        print(f"[FDM] {line}", flush=True)  # noqa: T201  (what verbose= is for)


class Watch:
    """Tells callbacks about a fit: scikit-learn's, if there are any, and a function given to the estimator.

    The fit is a task, and each pass one of its subtasks. A pass's task begins as soon as the one before has ended, so
    one begun task is left over at the end, and closed empty.
    """

    def __init__(self, estimator: Any, function: Callable[[Progress], Any] | None, **data: Any) -> None:
        self.estimator, self.function, self.data = estimator, function, data
        self.root: Any = None
        self.current: Any = None
        if getattr(estimator, "_skl_callbacks", None) or hasattr(estimator, "_parent_callback_ctx"):
            self.root = estimator._init_callback_context(max_subtasks=int(estimator.max_iter) + 1)
            self.root.call_on_fit_task_begin(estimator=estimator, **data)
            self._begin_pass()

    def __call__(self, progress: Progress) -> bool:
        """After a pass; whether anybody asks to stop."""
        stop = bool(self.function and self.function(progress))
        if self.current is not None:
            stop |= bool(
                self.current.call_on_fit_task_end(
                    estimator=self.estimator, reconstruction_attributes=lambda: _as_if_done(progress), **self.data
                )
            )
            self._begin_pass()
        return stop

    def close(self) -> None:
        """The estimator is fitted."""
        if self.root is not None:
            self.current.call_on_fit_task_end(estimator=self.estimator)
            self.root.call_on_fit_task_end(estimator=self.estimator, reconstruction_attributes={}, **self.data)

    def _begin_pass(self) -> None:
        self.current = self.root.subcontext(task_name="pass")
        self.current.call_on_fit_task_begin(estimator=self.estimator, **self.data)


def heard_by(printer: Printer, watch: Callable[[Progress], Any]) -> Callable[[Any], Any]:
    """Print all that goes on; tell the watch about passes over the pairs only, and hear whether to stop."""

    def heard(now: Any) -> Any:
        printer(now)
        return watch(now) if isinstance(now, Progress) else None

    return heard


def _as_if_done(progress: Progress) -> dict[str, Any]:
    """What makes a copy of the estimator a fitted one, if the fit had ended with this pass."""
    trace = [progress.log_likelihood] * (progress.passes + 1)
    return {"_solution": Solution(progress.mixture(), trace, False, "still being fitted")}
