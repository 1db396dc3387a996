"""Faces: ORL and CMU PIE (pose 27), 32 x 32 pixels, as prepared by Deng Cai."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from rprnmf.datasets.home import Source, locate

CAI = "http://www.cad.zju.edu.cn/home/dengcai/Data"
ORL = Source(
    title="ORL faces (32 x 32)",
    prepared="orl_32x32.npz",
    url=f"{CAI}/ORL/ORL_32x32.mat",
    digest="92752aba164d5b8928539b736cb1b36b6556deb330bececb0d74f069304234a3",
    arrays=("images", "labels"),
    terms="AT&T Laboratories Cambridge; credit required.",
)
PIE = Source(
    title="CMU PIE faces, pose 27 (32 x 32)",
    prepared="pie_pose27_32x32.npz",
    url=f"{CAI}/PIE/PIE_pose27.mat",
    digest="eb189c818d51e189699e6592ceaca620adca5c8d9222a6ea4800490193126196",
    arrays=("images", "labels"),
    terms="Carnegie Mellon University; research use.",
)


def fetch_orl(
    *, data_home: Any = None, download_if_missing: bool = True, return_X_y: bool = False
) -> Any:
    """The ORL (AT&T, Olivetti) faces: 400 images of 40 people.

    Parameters
    ----------
    data_home : path-like, default=None
        The folder to look in and to download to. None is that of RPRNMF_DATA to look in, and
        ``~/rprnmf_data`` to look in and to download to.
    download_if_missing : bool, default=True
        False: raise if the data are not there.
    return_X_y : bool, default=False
        True: return ``data`` and ``target`` only.

    Returns
    -------
    bunch : Bunch, or ``(data, target)``
        ``data``: ndarray of shape (400, 1024), grey levels 0 to 255; ``images``: the same upright,
        of shape (400, 32, 32); ``target``: the person, 0 to 39; ``DESCR``.

    Examples
    --------
    >>> from rprnmf.datasets import fetch_orl
    >>> fetch_orl().data.shape  # doctest: +SKIP
    (400, 1024)
    """
    return _faces(ORL, data_home, download_if_missing, return_X_y)


def fetch_pie(
    *, data_home: Any = None, download_if_missing: bool = True, return_X_y: bool = False
) -> Any:
    """The CMU PIE faces of pose 27: 2856 images of 68 people under different lights.

    Parameters
    ----------
    data_home : path-like, default=None
        The folder to look in and to download to. None is that of RPRNMF_DATA to look in, and
        ``~/rprnmf_data`` to look in and to download to.
    download_if_missing : bool, default=True
        False: raise if the data are not there.
    return_X_y : bool, default=False
        True: return ``data`` and ``target`` only.

    Returns
    -------
    bunch : Bunch, or ``(data, target)``
        ``data``: ndarray of shape (2856, 1024), grey levels 0 to 255; ``images``: the same
        upright, of shape (2856, 32, 32); ``target``: the person, 0 to 67; ``DESCR``.

    Examples
    --------
    >>> from rprnmf.datasets import fetch_pie
    >>> fetch_pie().data.shape  # doctest: +SKIP
    (2856, 1024)
    """
    return _faces(PIE, data_home, download_if_missing, return_X_y)


def _faces(source: Source, data_home: Any, download_if_missing: bool, return_X_y: bool) -> Any:
    def convert(official: Path, folder: Path) -> None:
        from scipy.io import loadmat

        found = loadmat(official, variable_names=["fea", "gnd"])
        np.savez_compressed(
            folder / source.prepared,
            images=found["fea"].astype(np.uint8),
            labels=found["gnd"].ravel().astype(np.uint8),
        )

    folder = locate(source, convert, data_home, download_if_missing)
    with np.load(folder / source.prepared) as found:
        data, labels = found["images"].astype(np.float64), found["labels"].astype(np.int64)
    if return_X_y:
        return data, labels - 1
    return Bunch(
        data=data,
        images=data.reshape(-1, 32, 32).transpose(0, 2, 1),  # the files go down the columns
        target=labels - 1,
        DESCR=f"{source.title}: {len(data)} images. {source.url}. {source.terms}",
    )
