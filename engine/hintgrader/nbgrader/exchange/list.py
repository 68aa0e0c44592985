"""Lists what is in the exchange, reading as little of it as collecting does."""

from itertools import chain
from typing import Any

from nbgrader.exchange.default.list import ExchangeList

from hintgrader.nbgrader.exchange.collect import OwnerCollect
from hintgrader.nbgrader.printable import plain


class OwnerList(ExchangeList):
    """Lists hand-ins as `OwnerCollect` would collect them: nbgrader opens whatever lies there."""

    def parse_assignments(self) -> list[dict[str, Any]]:
        """The sets that were handed in, by student; or nbgrader's own list of another kind."""
        if not self.inbound:
            return super().parse_assignments()
        collector = OwnerCollect(coursedir=self.coursedir, parent=self)
        collector.init_src()
        course = self.coursedir.course_id
        listed: dict[tuple[str, str], dict[str, Any]] = {}
        for hand_in in chain.from_iterable(collector.src_records.values()):
            assignment = hand_in.name.rsplit("+", 3)[1]
            about = {"course_id": course, "student_id": hand_in.student}
            about |= {"assignment_id": assignment, "status": "submitted"}
            group = listed.setdefault((hand_in.student, assignment), about | {"submissions": []})
            group["submissions"].append(about | {"timestamp": f"{hand_in.time} UTC"})
        return [listed[key] for key in sorted(listed)]

    def format_inbound_assignment(self, info: dict[str, Any]) -> str:
        """A line of the list."""
        return plain("{course_id} {student_id} {assignment_id} {timestamp}".format(**info))
