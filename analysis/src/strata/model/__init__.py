"""What is shown, computed from rows: points of figures, tables, sentences. No files, no drawing.

Whatever a run lacks is simply not there: a missing quantity or axis value means fewer points.
"""

from strata.model.layouts import Bar, Point, curves, latency_bars
from strata.model.names import FIELDS, LAYOUTS, LEVELS, fields_name, level_name, ordered
from strata.model.text import Cited, Sentence, Table, plain
from strata.model.timers import TIMER_TOLERANCE, Agreement, agreements
