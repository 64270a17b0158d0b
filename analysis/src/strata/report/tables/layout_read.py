"""What does a layout of particles cost, alone and under load?"""

from strata import model
from strata.report.tables import ReportTable

TABLE = ReportTable(order=10, make=lambda run: model.layout_table(run.rows))
