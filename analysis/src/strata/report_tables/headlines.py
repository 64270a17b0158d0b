"""Which numbers does a person want first?"""

from strata import model
from strata.report_tables import ReportTable

TABLE = ReportTable(order=0, make=model.headline_table)
