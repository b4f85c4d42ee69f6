import { AppError } from '#shared/appError.ts'
import { type ExposedPort, maxExposedPorts, type Visibility } from '#shared/contract/ports.ts'
import type { SandboxId } from '#shared/ids.ts'
import { type PortNames, parseLabel, toDomain } from './portNames.ts'
import type { PortRecord, PortRepository } from './portRepository.ts'

export type ExposedPorts = {
  /** @throws AppError `port/taken`, `port/too-many` */
  expose(sandboxId: SandboxId, options: ExposeOptions): ExposedPort
  list(sandboxId: SandboxId): ExposedPort[]
  /** Returns the port that was exposed earliest among those still exposed. */
  first(sandboxId: SandboxId): PortRecord | undefined
  isExposed(sandboxId: SandboxId, port: number): boolean
  /** @throws AppError `port/not-found` */
  get(sandboxId: SandboxId, port: number): PortRecord
  /** @throws AppError `port/not-found` */
  remove(sandboxId: SandboxId, port: number): void
  /** Returns the port of a host label. */
  findByLabel(label: string): PortRecord | undefined
}

type ExposeOptions = { port: number; visibility?: Visibility | undefined; subdomain?: string | undefined }

type Options = {
  records: PortRepository
  urlOf: PortNames['getUrl']
  /** Returns the endpoint to connect to for a port's URL. */
  toEndpoint: (url: URL) => { host: string; port: number }
  /**
   * Returns the port that a custom domain points to, whether exposed or not. Null means the port that was exposed
   * first.
   */
  leadsTo: (domain: string) => { sandboxId: SandboxId; port: number | null } | undefined
  onChanged: (sandboxId: SandboxId) => void
}

/** Manages exposed ports, which last until they are removed or their sandbox is deleted. */
export function createExposedPorts({
  records,
  urlOf,
  toEndpoint: endpointOf,
  leadsTo,
  onChanged,
}: Options): ExposedPorts {
  const toWire = (record: PortRecord): ExposedPort => {
    const { port, visibility } = record
    const url = urlOf(record)
    const parsed = new URL(url)
    const connect = { ...endpointOf(parsed), host_header: parsed.host }
    return { port, visibility, public_url: url, url, requires_auth: visibility === 'private', connect }
  }
  const get = (sandboxId: SandboxId, port: number): PortRecord => {
    const record = records.find(sandboxId, port)
    if (record) return record
    throw new AppError('port/not-found', `Port ${port} of this sandbox is not exposed.`)
  }
  const assertCapacity = (sandboxId: SandboxId): void => {
    if (records.list(sandboxId).length < maxExposedPorts) return
    throw new AppError('port/too-many', `This sandbox exposes ${maxExposedPorts} ports, which is the maximum.`)
  }
  const checkName = (record: PortRecord): void => {
    const holder = record.subdomain === null ? undefined : records.findNamed(record.subdomain)
    if (!holder || (holder.sandboxId === record.sandboxId && holder.port === record.port)) return
    throw new AppError('port/taken', `The subdomain \`${record.subdomain}\` belongs to another port.`)
  }

  return {
    expose(sandboxId, { port, visibility, subdomain }) {
      const before = records.find(sandboxId, port)
      if (!before) assertCapacity(sandboxId)
      const record: PortRecord = {
        sandboxId,
        port,
        visibility: visibility ?? before?.visibility ?? 'public',
        subdomain: subdomain ?? before?.subdomain ?? null,
      }
      checkName(record)
      const same = before?.visibility === record.visibility && before.subdomain === record.subdomain
      if (!same) {
        records.save(record)
        onChanged(sandboxId)
      }
      return toWire(record)
    },
    list: (sandboxId) => records.list(sandboxId).map(toWire),
    first: records.first,
    isExposed: (sandboxId, port) => records.find(sandboxId, port) !== undefined,
    get,
    remove(sandboxId, port) {
      const { port: there } = get(sandboxId, port)
      records.remove(sandboxId, there)
      onChanged(sandboxId)
    },
    findByLabel(label) {
      const domain = toDomain(label)
      const target = domain === undefined ? undefined : leadsTo(domain)
      if (domain !== undefined) {
        if (!target) return undefined
        const { sandboxId, port } = target
        return port === null ? records.first(sandboxId) : records.find(sandboxId, port)
      }
      const parts = parseLabel(label)
      return parts ? records.find(parts.sandboxId, parts.port) : records.findNamed(label)
    },
  }
}
