import { createKeyedQueue } from '#platform/concurrency/keyedQueue.ts'
import type { Log } from '#platform/logging/log.ts'
import type { ServiceEvent } from '#shared/contract/events.ts'
import type { HostEvent } from '#shared/contract/hostIpc.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { toWireImage } from '../images/imageRoutes.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import type { TerminalActivity } from '../terminals/terminalActivity.ts'
import type { terminalToWire } from '../terminals/terminalWire.ts'

/** Forwards host events to the account that owns the sandbox. Events about images are sent to all accounts. */
export function createHostEvents(options: {
  sandboxes: Pick<SandboxRegistry, 'onEnded' | 'findAccount'>
  terminals: Pick<TerminalActivity, 'recordChange'>
  publish: (accountId: AccountId, event: ServiceEvent) => void
  publishToAll: (event: ServiceEvent) => void
  toWire: typeof terminalToWire
  imageToWire: typeof toWireImage
  log: Log
}): (event: HostEvent) => void {
  const { sandboxes, publish, log } = options
  const queue = createKeyedQueue()
  const forward = async (event: SandboxEvent): Promise<void> => {
    if (event.type === 'machine.ended') return sandboxes.onEnded(event.sandboxId, event.reason)
    if (event.type === 'terminal.changed') options.terminals.recordChange(event.terminal)
    const accountId = await sandboxes.findAccount(getSandboxId(event))
    if (accountId === undefined) return // the sandbox was deleted concurrently, with its terminals
    publish(accountId, toWire(event, options.toWire))
  }
  return (event) => {
    if (event.type === 'image.removed') {
      options.publishToAll(event)
      return
    }
    if (event.type === 'image.changed') {
      options.publishToAll({ type: 'image.changed', image: options.imageToWire(event.image) })
      return
    }
    // Events of one sandbox are forwarded in the order of the host.
    const key = event.type === 'machine.ended' ? `ended/${event.sandboxId}` : getSandboxId(event)
    queue
      .run(key, () => forward(event))
      .catch((error: unknown) => log.error('failed to forward an event of the host', { type: event.type, error }))
  }
}

function getSandboxId(event: TerminalEvent): SandboxId {
  return event.type === 'terminal.changed' ? event.terminal.sandboxId : event.sandboxId
}

type SandboxEvent = TerminalEvent | Extract<HostEvent, { type: 'machine.ended' }>
type TerminalEvent = Extract<HostEvent, { type: `terminal.${string}` }>

function toWire(event: TerminalEvent, toWireTerminal: typeof terminalToWire): ServiceEvent {
  switch (event.type) {
    case 'terminal.changed':
      return { type: event.type, terminal: toWireTerminal(event.terminal) }
    case 'terminal.output':
      return { type: event.type, sandbox_id: event.sandboxId, session_id: event.terminalId, bell: event.bell }
    case 'terminal.called':
      return { type: event.type, sandbox_id: event.sandboxId, session_id: event.terminalId, text: event.text }
    case 'terminal.removed':
      return { type: event.type, sandbox_id: event.sandboxId, session_id: event.terminalId }
  }
}
