import type { Approvals } from '../approvals/approvals.ts'
import type { AgentContext } from './agentContext.ts'

type Dependencies = { approvals: Pick<Approvals, 'policy'>; stopAll: readonly (() => void)[] }

/** Extends the stop switch to what needs no approval: models called with API keys, running chats, and calls under way. */
export function followStop({ tellService, events, scope }: AgentContext, { approvals, stopAll }: Dependencies): void {
  let isStopped = approvals.policy().stopped
  const tell = (): void => tellService?.({ event: 'models-stopped', stopped: isStopped })
  if (isStopped) tell()
  const unsubscribe = events.subscribe((event) => {
    if (event.type !== 'policy.changed' || event.policy.stopped === isStopped) return
    isStopped = event.policy.stopped
    tell()
    if (isStopped) for (const stop of stopAll) stop()
  })
  scope.own(unsubscribe, (end) => end())
}
