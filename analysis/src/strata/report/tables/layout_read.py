"""What does a layout of particles cost, alone and under load?"""

from strata.model.layouts import layout_table
from strata.report.tables import ReportTable

TABLE = ReportTable(order=10, make=lambda run: layout_table(run.rows))
