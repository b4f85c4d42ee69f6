import type { Operation, OperationResult, OperationTransport } from '../inside/execProtocol.ts'
import type { AgentChannel } from './agentChannel.ts'
import type { AgentConnection } from './agentConnection.ts'

/** Time after a kill for reading the remaining output, in milliseconds. */
const killDeadlineMs = 5_000

/** Runs commands and file operations in a container. A hanging agent does not block the caller. */
export function createAgentTransport(agent: Pick<AgentConnection, 'open'>): OperationTransport {
  return {
    open(request) {
      const channel = agent.open(request)
      return request.mode === 'exec' ? createCommand(channel) : createFileOperation(channel)
    },
  }
}

function createCommand(channel: AgentChannel): Operation<AgentChannel> {
  let killed = false
  let deadline: NodeJS.Timeout | undefined
  return {
    started: getStarted(channel),
    result: channel.result.finally(() => clearTimeout(deadline)),
    kill() {
      if (killed) return
      killed = true
      channel.kill()
      deadline = setTimeout(() => close(channel, ''), killDeadlineMs)
    },
  }
}

function createFileOperation(channel: AgentChannel): Operation<AgentChannel> {
  return {
    started: getStarted(channel),
    result: channel.result.then(requireCompleteResult),
    kill: () => close(channel, 'The operation was cancelled.'),
  }
}

async function getStarted(channel: AgentChannel): Promise<AgentChannel | undefined> {
  return (await channel.started) === undefined ? undefined : channel
}

function close(channel: AgentChannel, detail: string): void {
  channel.drop()
  channel.bury({ kind: 'lost', detail })
}

/** The output of a killed process is incomplete and ignored. */
function requireCompleteResult(result: OperationResult): OperationResult {
  if (result.kind !== 'ended' || result.status === 0) return result
  return { kind: 'lost', detail: `The helper exited with status ${result.status}.` }
}
