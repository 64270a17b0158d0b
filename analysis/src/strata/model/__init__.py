"""What the report shows, computed from rows: points of figures, tables, sentences.

No files and no drawing. A quantity or axis value that a run lacks is simply missing: there are
fewer points.
"""

from strata.model.layouts import Bar, Point, curves, latency_bars
from strata.model.names import FIELDS, LAYOUTS, LEVELS, fields_name, level_name, ordered
from strata.model.text import Cited, Sentence, Table, plain
from strata.model.timers import TIMER_TOLERANCE, Agreement, agreements
