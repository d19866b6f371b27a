"""The curve of precision over coverage as a picture."""

from collections.abc import Sequence

from knowledge_index.benchmark.models.threshold import ThresholdFigures

_WIDTH, _HEIGHT = 480, 340
_DEV_COLOUR, _TEST_COLOUR = "#888888", "#1f4e9c"


def curve_picture(
    dev_curve: Sequence[ThresholdFigures],
    test_curve: Sequence[ThresholdFigures],
    dev: ThresholdFigures,
    test: ThresholdFigures,
) -> str:
    """An SVG of both curves, one point for each threshold that a score suggests, and a ring at the chosen one."""
    from reportlab.graphics import renderSVG
    from reportlab.graphics.charts.lineplots import LinePlot
    from reportlab.graphics.shapes import Circle, Drawing, String
    from reportlab.lib.colors import HexColor

    drawing = Drawing(_WIDTH, _HEIGHT)
    plot = LinePlot()
    plot.x, plot.y, plot.width, plot.height = 55, 50, _WIDTH - 85, _HEIGHT - 90
    plot.data = [_points(dev_curve), _points(test_curve)]
    for place, colour in enumerate((_DEV_COLOUR, _TEST_COLOUR)):
        plot.lines[place].strokeColor = HexColor(colour)
        plot.lines[place].strokeWidth = 1.5
    for axis in (plot.xValueAxis, plot.yValueAxis):
        axis.valueMin, axis.valueMax, axis.valueStep = 0, 1, 0.2
        axis.labelTextFormat = "%.1f"
    drawing.add(plot)
    for figures, colour in ((dev, _DEV_COLOUR), (test, _TEST_COLOUR)):
        if figures.precision is not None:
            x = plot.x + figures.coverage * plot.width
            y = plot.y + figures.precision * plot.height
            drawing.add(Circle(x, y, 5, fillColor=None, strokeColor=HexColor(colour), strokeWidth=2))
    drawing.add(String(_WIDTH / 2, 15, "coverage: share of questions filled in", textAnchor="middle", fontSize=11))
    drawing.add(String(10, _HEIGHT - 18, "precision: share of filled answers that are right", fontSize=11))
    drawing.add(String(_WIDTH - 120, 80, "dev", fillColor=HexColor(_DEV_COLOUR), fontSize=11))
    drawing.add(String(_WIDTH - 120, 64, "test; ring: chosen", fillColor=HexColor(_TEST_COLOUR), fontSize=11))
    return str(renderSVG.drawToString(drawing))


def _points(curve: Sequence[ThresholdFigures]) -> list[tuple[float, float]]:
    return [(each.coverage, each.precision) for each in curve if each.precision is not None]
