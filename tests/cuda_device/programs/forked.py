"""A child made by fork cannot use the driver; its parent still can."""

import os

from driver import call, start, status

start()
child = os.fork()
if not child:
    os._exit(0 if status("cuMemAlloc", 16) == status("cuInit", 0) == "CUDA_ERROR_NOT_INITIALIZED" else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
call("cuMemFree", call("cuMemAlloc", 16))
print("done")
