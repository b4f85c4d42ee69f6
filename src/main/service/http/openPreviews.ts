import type { IncomingMessage } from 'node:http'
import type { ExposedPorts } from '../ports/exposedPorts.ts'
import type { PortNames } from '../ports/portNames.ts'
import type { PortRecord } from '../ports/portRepository.ts'
import type { SandboxRecord } from '../sandboxes/sandboxRepository.ts'
import type { PreviewAccess } from './previewAccess.ts'

export type OpenPreviews = {
  /** What a request opened lasts until the answer is called, or until `cut` was. */
  add(preview: Preview): () => void
  /** Some credential, address or sandbox may have ended: cuts off whoever would not be let in any more. */
  checkAccess(): void
  close(): void
}

type Preview = { request: IncomingMessage; port: PortRecord; cut: () => void }

type Options = {
  names: Pick<PortNames, 'labelOf'>
  ports: Pick<ExposedPorts, 'named'>
  sandbox: (id: PortRecord['sandboxId']) => SandboxRecord | undefined
  access: Pick<PreviewAccess, 'holds'>
}

/** Tokens and sign-ins also end by their time, of which nobody is told. */
const checkEveryMs = 30_000

/** Exchanges and WebSockets with ports that are under way. */
export function openPreviews({ names, ports, sandbox, access }: Options): OpenPreviews {
  const open = new Set<Preview>()
  const holds = ({ request, port }: Preview): boolean => {
    const named = ports.named(names.labelOf(request.headers.host) ?? '')
    return (
      named?.sandboxId === port.sandboxId &&
      named.port === port.port &&
      sandbox(port.sandboxId)?.status === 'running' &&
      access.holds(request, named)
    )
  }
  const checkAccess = (): void => {
    for (const preview of open) {
      if (holds(preview)) continue
      open.delete(preview)
      preview.cut()
    }
  }
  const timer = setInterval(checkAccess, checkEveryMs)
  timer.unref()
  return {
    add(preview) {
      open.add(preview)
      return () => open.delete(preview)
    },
    checkAccess,
    close: () => clearInterval(timer),
  }
}
