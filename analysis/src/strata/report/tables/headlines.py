"""Which numbers does a person want first?"""

from strata.report import headlines
from strata.report.tables import ReportTable

TABLE = ReportTable(order=0, make=headlines.table)
