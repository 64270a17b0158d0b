"""Which numbers does a person want first?"""

from strata import headlines
from strata.report_tables import ReportTable

TABLE = ReportTable(order=0, make=headlines.table)
