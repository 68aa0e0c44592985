"""All attacks by their groups, and those that take more than a notebook."""

from tests.engine.attacks.afterwards import AFTERWARDS
from tests.engine.attacks.borrowing import BORROWING
from tests.engine.attacks.ending import ENDING, NETWORK, TAKING_TIME
from tests.engine.attacks.filling import FILLING, LEAVING
from tests.engine.attacks.forging import FORGING
from tests.engine.attacks.pretending import PRETENDING, RECORDS, SHADOWS
from tests.engine.attacks.reading import READING

TRIED = 2  # of each group by `make test`; `make proofs` tries all
GROUPS = {
    "reading": READING,
    "pretending": PRETENDING,
    "shadows": SHADOWS,
    "records": RECORDS,
    "borrowing": BORROWING,
    "afterwards": AFTERWARDS,
    "network": NETWORK,
    "ending": ENDING,
    "time": TAKING_TIME,
    "filling": FILLING,
    "leaving": LEAVING,
    "forging": FORGING,
}
# The attack, the points that it gains, what the instructor reads, its harm, and the test.
AROUND = [
    (
        "another account reads the seed and the gradebook, or replaces a collected notebook",
        "0",
        "nothing: permission is denied; a folder that is open is named, and how to close it",
        "none",
        "test_private.py::test_others_read_and_replace_nothing",
    ),
    (
        "a hand-in under a classmate's name, newer than the classmate's own",
        "0",
        "whose it is, and that it was left behind",
        "none",
        "test_inbound.py::test_hand_in_of_another_account_is_left_and_said",
    ),
    (
        "a hand-in that says it was made years ago",
        "0",
        "nothing: the time comes from the file system",
        "none",
        "test_inbound.py::test_time_is_that_of_the_file_system",
    ),
    (
        "a link to the instructor's files in a hand-in",
        "0",
        "that it is a link, and was left",
        "none",
        "test_inbound.py::test_links_lead_nowhere",
    ),
    (
        "an uploaded file with the name of a classmate, or of an earlier time",
        "0",
        "nothing: only the system's part of a name is read",
        "none",
        "test_archive_names.py::test_name_that_looks_like_the_systems_own_changes_nothing",
    ),
    (
        "an output of 64 MB that takes gigabytes to look at",
        "0",
        "that there was no memory for it",
        "its own part",
        "test_grader_memory.py::test_part_for_which_there_is_no_memory_says_so",
    ),
    (
        "a broken zip, a bomb, an archive in archives in archives",
        "0",
        "why it was left; the work is unreadable",
        "its own submission",
        "test_uploads.py::test_bad_upload_is_left_by_itself_and_counts_as_unreadable",
    ),
    (
        "marks rewritten in the gradebook or in the records, without a sandbox",
        "0",
        "whose marks were not graded; nothing is exported or reported",
        "everybody is graded again",
        "test_marks.py::test_marks_that_were_not_graded_are_neither_exported_nor_reported",
    ),
    (
        "a sandbox that is not there",
        "0",
        "that one is required, and how to do without",
        "none",
        "test_marks.py::test_weaker_level_is_taken_only_if_it_is_named",
    ),
    (
        "a second notebook in a set, which nobody would grade",
        "0",
        "the notebook's name; the set is not released",
        "none",
        "test_release.py::test_faulty_set_is_not_released",
    ),
]
