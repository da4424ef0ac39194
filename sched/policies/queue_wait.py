"""How long a request would wait, by what is predicted of those before it."""

from typing import Any

from sched.model import Door, Request, Standing
from sched.policies.base import Policy, Scene


class QueueWait(Policy):
    """A policy that keeps its own book of who waits and of the iterations that each will need."""

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        machine, count = scene.machine, sum(len(peaks) for peaks in scene.peaks.values())
        blocks = sum(sum(peaks) for peaks in scene.peaks.values())
        # As many run side by side as have seats and, at their mean peak, memory.
        self.abreast = max(1, min(machine.max_num_seqs, machine.kv_blocks * count // max(1, blocks)))
        self.waiting: dict[int, tuple[Request, int]] = {}

    def work(self, request: Request, standing: Standing) -> int:
        known, emitted = request.prompt_tokens + standing.emitted_tokens, standing.emitted_tokens
        prefill = -(-known // self.scene.machine.max_num_batched_tokens)
        return prefill + self.scene.forecast(request.ordinal, emitted) - emitted - 1

    def queued(self, request: Request, standing: Standing) -> None:
        self.waiting[request.ordinal] = (request, self.work(request, standing))

    def unqueued(self, request: Request) -> None:
        del self.waiting[request.ordinal]

    def wait_ps(self, request: Request, door: Door) -> int:
        """The wait that awaits a newcomer: what those before it need, shared by as many as run abreast."""
        ahead = [work for other, work in self.waiting.values() if other.priority <= request.priority]
        if door.running + len(ahead) < self.abreast:
            return 0
        return (max(0, door.running_work) + sum(ahead)) * door.iteration_ps // self.abreast
