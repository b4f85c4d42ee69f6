import type { IncomingMessage } from 'node:http'
import type { AppError } from '#shared/appError.ts'
import type { ServicePrincipals, WorkKind } from '../base/principals.ts'
import type { ExposedPorts } from '../ports/exposedPorts.ts'
import type { PortNames } from '../ports/portNames.ts'
import type { PortRecord } from '../ports/portRepository.ts'
import type { SandboxRecord } from '../sandboxes/sandboxRepository.ts'
import type { PreviewAccess, PreviewHolder } from './previewAccess.ts'

export type OpenPreviews = {
  /**
   * Registers a preview that a request opened.
   * @returns a function that unregisters it
   * @throws AppError for a principal that has ended
   */
  add(preview: Preview): Promise<() => void>
  /**
   * Closes previews of ports, names and sandboxes that have changed. Previews of ended credentials are closed by their
   * leases.
   */
  checkPorts(): Promise<void>
}

type Preview = {
  request: IncomingMessage
  port: PortRecord
  /** Principal with access to the port. Undefined if the port is public. */
  holder: PreviewHolder | undefined
  work: WorkKind
  /** @param error reason for the end of its principal; undefined if the port, its name or its sandbox has changed */
  cut: (error?: AppError) => void
}

type Options = {
  names: Pick<PortNames, 'findLabel'>
  ports: Pick<ExposedPorts, 'findByLabel'>
  sandbox: (id: PortRecord['sandboxId']) => Promise<SandboxRecord | undefined>
  access: Pick<PreviewAccess, 'holds'>
  principals: Pick<ServicePrincipals, 'lease'>
}

/** Finds the port at the host name of a request. */
export async function findPort(
  request: IncomingMessage,
  { names, ports }: Pick<Options, 'names' | 'ports'>,
): Promise<PortRecord | undefined> {
  const label = await names.findLabel(request.headers.host)
  return label === undefined ? undefined : ports.findByLabel(label)
}

/** Exchanges and WebSockets in progress with ports of sandboxes. */
export function createOpenPreviews({ names, ports, sandbox, access, principals }: Options): OpenPreviews {
  const open = new Set<Preview>()
  const holds = async ({ request, port, holder }: Preview): Promise<boolean> => {
    const named = await findPort(request, { names, ports })
    return (
      named?.sandboxId === port.sandboxId &&
      named.port === port.port &&
      (await sandbox(port.sandboxId))?.status === 'running' &&
      (holder !== undefined || (await access.holds(request, named)))
    )
  }
  return {
    async add(preview) {
      const { holder, work, cut } = preview
      const terms = { onEnd: cut, expiresAtMs: holder?.expiresAtMs }
      const lease = holder && (await principals.lease(holder.principal, work, terms))
      if (lease?.error) throw lease.error
      open.add(preview)
      return () => {
        open.delete(preview)
        lease?.release()
      }
    },
    async checkPorts() {
      for (const preview of [...open]) {
        if ((await holds(preview)) || !open.delete(preview)) continue
        preview.cut()
      }
    },
  }
}
