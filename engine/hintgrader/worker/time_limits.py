"""Limits of time, in seconds, each with its reason.

The limits of what students compute count processor time, so that they do not depend on how busy the
machine is; `clock` says how that is counted, and what counts as waiting. The others pass by the
clock on the wall.
"""

# What a student's code may compute.
CALL_SECONDS = 10  # a call of an answer; a check that trains says its own
PROBE_SECONDS = 2.0  # a call that finds out what is wrong, of which several are made
CELL_SECONDS = 180.0  # a cell; the command line may say otherwise
NOTEBOOK_SECONDS = 1800.0  # a notebook, with all its tries
SLOW_CELLS = 10  # that may take all of their time: where that is longer, so may be the notebook
HIDDEN_SECONDS = 600.0  # more, for the hidden inputs of what has been begun
SPARE = 0.05  # of a notebook's time: with less than that left, nothing is begun anew
SNAPSHOT_SECONDS = 30.0  # an order to the notebook between its cells, such as to fork
BACKSTOP_SECONDS = 24 * 3600  # the kernel's own limit, should the grader count no more

# What it may wait, and how long the grader waits for its process to notice a limit by itself.
IDLE_SECONDS = 30.0  # with nothing computed, where the limit of computing is not longer
PATIENCE = 5.0  # beyond the limit of waiting, which the process sets itself in a call
MARGIN = 5.0  # beyond the limit of computing, likewise
SOON = 0.01  # for a timer that is due: one at 0 would never ring

# The confined process.
START_SECONDS = 120.0  # to import torch, on a busy machine
PROBE_SANDBOX_SECONDS = 20  # to start Python in a sandbox, to see whether one can be made here
KILL_GRACE = 0.5  # for processes to end by themselves, when all is over
BUSY_GRACE = 5.0  # for those that are ready to, while others have all processors
CLEAN_UP_SECONDS = 10.0  # for it to end what is left, after the grace
GONE_SECONDS = 0.1  # until it is seen whether all processes of a submission have ended
TICK_SECONDS = 0.2  # between two looks at what a request has used
POLL_SECONDS = 0.2  # between two looks at memory, processes and time

# The grader's own processes.
EXIT_SECONDS = 10.0  # to clean up, once they are to end; then they are killed
LOCK_SECONDS = 10.0  # for the key of the records, which others hold for moments
LOCK_POLL_SECONDS = 0.05  # between two tries to get it

# A cluster.
CONNECT_SECONDS = 10  # for its scheduler to answer
WORKER_SECONDS = 60  # without any worker, before the command gives up
CLUSTER_POLL_SECONDS = 0.05  # between two looks for what has been graded
