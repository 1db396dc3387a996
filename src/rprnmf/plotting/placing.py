"""Room for names and thumbnails beside points, so that they do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rprnmf.plotting.lines import Z_NAMES
from rprnmf.plotting.style import GREY, INK, short

# Directions from a point to the middle of its name, the best to read first.
ANGLES = np.deg2rad([0, 180, 90, 270, 30, 150, 330, 210, 60, 120, 240, 300])
NEAR = 5.0  # from a point to its name, in points of 1/72 inch
GAPS = (NEAR, 12.0, 22.0, 34.0, 48.0)
# Beside 1 for a point that is covered: a part of a line that is, and 1/72 inch more of distance.
LINE_COST, FAR_COST = 0.1, 0.02
PARTS = np.linspace(0.02, 0.98, 25)[:, None, None]  # of a line
# Where a legend may stand, the best first, and how far to the right and up that is.
CORNERS = {
    "upper right": (1.0, 1.0),
    "lower right": (1.0, 0.0),
    "center right": (1.0, 0.5),
    "upper left": (0.0, 1.0),
    "lower left": (0.0, 0.0),
    "center left": (0.0, 0.5),
    "upper center": (0.5, 1.0),
    "lower center": (0.5, 0.0),
}
FRAME = {"edgecolor": GREY, "linewidth": 0.5}  # of a thumbnail


class Room:
    """Boxes in pixels, inside a frame, that are taken.

    Parameters
    ----------
    frame : Bbox
    points : ndarray of shape (n_points, 2)
        Better not covered.
    lines : ndarray of shape (n_lines, 2, 2)
        Their ends; better not covered, if nothing else suffers.
    """

    def __init__(self, frame: Any, points: np.ndarray, lines: np.ndarray):
        self.frame = np.array(frame.extents)
        self.points = points
        self.on_lines = ((1 - PARTS) * lines[:, 0] + PARTS * lines[:, 1]).reshape(-1, 2)
        self.taken = np.zeros((0, 4))

    def free(self, boxes: np.ndarray) -> np.ndarray:
        """Which boxes (x0, y0, x1, y1) lie in the frame and touch none that is taken."""
        low, high = boxes[:, None, :2], boxes[:, None, 2:]
        framed = (low >= self.frame[:2]) & (high <= self.frame[2:])
        apart = (high <= self.taken[:, :2]) | (self.taken[:, 2:] <= low)
        return np.all(framed, axis=(1, 2)) & np.all(np.any(apart, axis=2), axis=1)

    def covered(self, boxes: np.ndarray) -> np.ndarray:
        """How much each box covers: points, and parts of lines."""
        return inside(boxes, self.points) + LINE_COST * inside(boxes, self.on_lines)

    def take(self, box: np.ndarray) -> None:
        """From now on nothing else can be there."""
        self.taken = np.vstack((self.taken, box))


def inside(boxes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """How many points lie in each box."""
    above = points >= boxes[:, None, :2]
    return (above & (points <= boxes[:, None, 2:])).all(axis=2).sum(axis=1)


def room_of(ax: Any, points: np.ndarray, lines: np.ndarray) -> Room:
    """The room in Axes whose other parts are drawn, legend included."""
    ax.figure.figure.draw_without_rendering()  # lays out the figure: pixels are final
    to_pixels = ax.transData.transform
    ends = to_pixels(lines.reshape(-1, 2)).reshape(lines.shape)
    room = Room(ax.get_window_extent(), to_pixels(points), ends)
    if ax.get_legend() is not None:
        room.take(np.array(ax.get_legend().get_window_extent().extents))
    return room


def place_legend(ax: Any, lines: Sequence[Any], spans: Sequence[Any] = ()) -> Any:
    """A legend in the corner, or beside the middle of an edge, where it covers least.

    Parameters
    ----------
    ax : matplotlib Axes
    lines : sequence of Line2D
        What the legend names; they may be on other Axes at the same place.
    spans : sequence of array-like of shape (n_points, 2)
        Other lines, in units of the data.
    """
    legend = ax.legend(handles=lines, loc="center", fontsize="small", framealpha=0.8)
    ax.figure.figure.draw_without_rendering()
    paths = [line.get_transform().transform(line.get_xydata()) for line in lines]
    paths += [ax.transData.transform(np.asarray(span)) for span in spans]
    ends = [np.stack((path[:-1], path[1:]), axis=1) for path in paths if len(path)]
    room = Room(ax.get_window_extent(), np.vstack(paths), np.concatenate(ends))
    low, high = room.frame[:2], room.frame[2:]
    size = np.array(legend.get_window_extent().size) + 0.01 * (high - low)
    corners = low + (high - low - size) * np.array(list(CORNERS.values()))
    covered = room.covered(np.hstack((corners, corners + size)))
    legend.set_loc([*CORNERS][int(np.argmin(covered))])
    return legend


def place_names(
    ax: Any, room: Room, items: Sequence[int], names: Sequence[Any], points: np.ndarray
) -> list[Any]:
    """Write the names of items, the first ones first; leave out those that find no place."""
    pixel = ax.figure.figure.dpi / 72.0
    gaps, angles = (grid.ravel() for grid in np.meshgrid(GAPS, ANGLES, indexing="ij"))
    directions = np.column_stack((np.cos(angles), np.sin(angles)))
    written = []
    for item in items:
        text = ax.annotate(
            short(names[item]),
            points[item],
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize="small",
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5},
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkB": 2},
            zorder=Z_NAMES,
        )
        text.set_parse_math(False)  # a name may have a $
        text.set_in_layout(False)
        text.arrow_patch.set_visible(False)
        size = np.array(text.get_window_extent().size) + pixel
        offsets = directions * (gaps[:, None] * pixel + 0.5 * size)
        middles = room.points[item] + offsets
        boxes = np.hstack((middles - 0.5 * size, middles + 0.5 * size))
        cost = np.where(room.free(boxes), room.covered(boxes) + FAR_COST * gaps, np.inf)
        best = int(np.argmin(cost))
        if np.isinf(cost[best]):
            text.remove()
            continue
        room.take(boxes[best])
        text.set_position(offsets[best] / pixel)
        text.arrow_patch.set_visible(bool(gaps[best] > NEAR))
        written.append(text)
    return written


def place_images(
    ax: Any, room: Room, items: Sequence[int], images: np.ndarray, points: np.ndarray
) -> list[Any]:
    """Put thumbnails on items, the first ones first, where none covers another."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    side = thumbnail_size(room)
    pixel = ax.figure.figure.dpi / 72.0
    zoom = side / pixel / max(images.shape[1:3])  # OffsetImage counts in points
    size = side * np.array([images.shape[2], images.shape[1]]) / max(images.shape[1:3])
    shown = []
    for item in items:
        middle = room.points[item]
        box = np.concatenate((middle - 0.5 * size, middle + 0.5 * size))
        if not room.free(box[None])[0]:
            continue
        room.take(box)
        image = OffsetImage(images[item], zoom=zoom, cmap="gray_r")
        thumbnail = AnnotationBbox(image, points[item], pad=0.0, bboxprops=FRAME, zorder=Z_NAMES)
        thumbnail.set_in_layout(False)
        shown.append(ax.add_artist(thumbnail))
    return shown


def thumbnail_size(room: Room) -> float:
    """Pixels of the longer side: more items, smaller thumbnails, but still seen."""
    width, height = room.frame[2:] - room.frame[:2]
    each = np.sqrt(0.35 * width * height / max(len(room.points), 1))
    short_side = min(width, height)
    return float(np.clip(each, 0.055 * short_side, 0.15 * short_side))


def spread_out(points: np.ndarray, n: int, first: Sequence[int] = ()) -> list[int]:
    """Some items: the given ones, then each as far as can be from those before."""
    chosen = list(first)[:n]
    if not chosen and len(points) and n:
        chosen = [int(np.argmax(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))]
    apart = np.full(len(points), np.inf)
    for item in chosen:
        apart = np.minimum(apart, np.sum((points - points[item]) ** 2, axis=1))
    apart[chosen] = -1.0
    while len(chosen) < min(n, len(points)):
        item = int(np.argmax(apart))
        chosen.append(item)
        apart = np.minimum(apart, np.sum((points - points[item]) ** 2, axis=1))
        apart[chosen] = -1.0
    return chosen
