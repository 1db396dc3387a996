"""scikit-learn's callback protocol (version 1.9) beside our own plain function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rprnmf.solvers.loop import State

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""


#: what scikit-learn needs after a failed fit to shut its callbacks down
TEARDOWN = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")

Callback = Callable[[State], object]


def with_sklearn_callbacks(estimator: Any, X: Any, callback: Callback | None) -> Callback | None:
    """A plain callback that also serves the callbacks set with ``set_callbacks``.

    Every iteration is a task of scikit-learn's; a callback of either kind may stop the fit.
    """
    if not getattr(estimator, "_skl_callbacks", None):
        return callback
    tasks = estimator.max_iter * estimator.n_init
    context = estimator._init_callback_context(max_subtasks=tasks)
    context.call_on_fit_task_begin(estimator=estimator, X=X)

    def both(state: State) -> bool:
        task = context.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(estimator=estimator, X=X)
        stop = task.call_on_fit_task_end(
            estimator=estimator,
            X=X,
            reconstruction_attributes=lambda: {
                "embedding_": state.W,
                "components_": state.H,
                "n_components_": len(state.H),
                "n_features_in_": state.H.shape[1],
            },
        )
        ours = bool(callback(state)) if callback is not None else False
        return bool(stop) or ours

    return both
