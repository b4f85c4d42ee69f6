import type { FileAccess } from '../inside/sandboxFiles.ts'
import type { ChannelEnding } from './agentChannel.ts'
import type { AgentConnection } from './agentConnection.ts'

/** Creates access to the files of a container. The agent runs the same file operations as the bubblewrap runtime. */
export function createContainerFileAccess(agent: Pick<AgentConnection, 'open'>): FileAccess {
  return {
    open(request) {
      const channel = agent.open(request)
      const started = channel.started.then((it) => (it === undefined ? undefined : channel))
      const kill = (): void => {
        channel.drop()
        channel.bury({ kind: 'lost', detail: 'The operation was cancelled.' }) // a hanging agent does not block the caller
      }
      return { started, ending: channel.ending.then(requireCompleteEnding), kill }
    },
  }
}

/** The output of a killed process is incomplete and ignored. */
function requireCompleteEnding(ending: ChannelEnding): ChannelEnding {
  if (ending.kind !== 'ended' || ending.status === 0) return ending
  return { kind: 'lost', detail: `The helper exited with status ${ending.status}.` }
}
