import { AppError } from '#shared/appError.ts'
import { type ExposedPort, maxExposedPorts, type Visibility } from '#shared/contract/ports.ts'
import type { SandboxId } from '#shared/ids.ts'
import { ConstraintError, isDuplicate, type Query, type Store, type Transaction } from '#storage/store.ts'
import { type PortNames, parseLabel, toDomain } from './portNames.ts'
import { type PortRecord, portRepository } from './portRepository.ts'

export type ExposedPorts = {
  /** @throws AppError `port/taken`, `port/too-many`, `sandbox/not-found` */
  expose(sandboxId: SandboxId, options: ExposeOptions): Promise<ExposedPort>
  list(sandboxId: SandboxId): Promise<ExposedPort[]>
  /** Returns the port that was exposed earliest among those still exposed. */
  findFirst(query: Query, sandboxId: SandboxId): Promise<PortRecord | undefined>
  find(query: Query, sandboxId: SandboxId, port: number): Promise<PortRecord | undefined>
  /** @throws AppError `port/not-found` */
  get(query: Query, sandboxId: SandboxId, port: number): Promise<PortRecord>
  /** @throws AppError `port/not-found` */
  remove(sandboxId: SandboxId, port: number): Promise<void>
  /** Returns the port of a host label. */
  findByLabel(label: string): Promise<PortRecord | undefined>
}

type ExposeOptions = { port: number; visibility?: Visibility | undefined; subdomain?: string | undefined }

type Options = {
  store: Store
  urlOf: PortNames['getUrl']
  /** Returns the endpoint to connect to for a port's URL. */
  toEndpoint: (url: URL) => { host: string; port: number }
  /**
   * Returns the port that a custom domain points to, whether exposed or not. Null means the port that was exposed
   * first.
   */
  findTarget: (domain: string) => Promise<{ sandboxId: SandboxId; port: number | null } | undefined>
  onChanged: (sandboxId: SandboxId) => void
}

/** Manages exposed ports, which last until they are removed or their sandbox is deleted. */
export function createExposedPorts({ store, urlOf, toEndpoint, findTarget, onChanged }: Options): ExposedPorts {
  const toWire = (record: PortRecord): ExposedPort => {
    const { port, visibility } = record
    const url = urlOf(record)
    const parsed = new URL(url)
    const connect = { ...toEndpoint(parsed), host_header: parsed.host }
    return { port, visibility, public_url: url, url, requires_auth: visibility === 'private', connect }
  }
  const { find, findFirst, findNamed, list } = portRepository

  return {
    async expose(sandboxId, { port, visibility, subdomain }) {
      const { record, isChanged } = await store
        .write(async (tx) => {
          const before = await find(tx, sandboxId, port)
          if (!before) await assertCapacity(tx, sandboxId)
          const record: PortRecord = {
            sandboxId,
            port,
            visibility: visibility ?? before?.visibility ?? 'public',
            subdomain: subdomain ?? before?.subdomain ?? null,
          }
          await assertNameFree(tx, record)
          const isChanged = before?.visibility !== record.visibility || before.subdomain !== record.subdomain
          if (isChanged) await portRepository.save(tx, record)
          return { record, isChanged }
        })
        .catch((error: unknown) => {
          if (isDuplicate(error, 'ports', ['subdomain'])) throw createNameConflictError(subdomain ?? '')
          if (error instanceof ConstraintError && error.kind === 'foreign-key') {
            throw new AppError('sandbox/not-found', 'Sandbox not found or access denied')
          }
          throw error
        })
      if (isChanged) onChanged(sandboxId)
      return toWire(record)
    },
    list: async (sandboxId) => (await list(store.read, sandboxId)).map(toWire),
    find,
    findFirst,
    get: getPort,
    async remove(sandboxId, port) {
      await store.write(async (tx) => {
        await getPort(tx, sandboxId, port)
        await portRepository.remove(tx, sandboxId, port)
      })
      onChanged(sandboxId)
    },
    async findByLabel(label) {
      const domain = toDomain(label)
      if (domain !== undefined) {
        const target = await findTarget(domain)
        if (!target) return undefined
        const { sandboxId, port } = target
        return port === null ? findFirst(store.read, sandboxId) : find(store.read, sandboxId, port)
      }
      const parts = parseLabel(label)
      return parts ? find(store.read, parts.sandboxId, parts.port) : findNamed(store.read, label)
    },
  }
}

async function getPort(query: Query, sandboxId: SandboxId, port: number): Promise<PortRecord> {
  const record = await portRepository.find(query, sandboxId, port)
  if (record) return record
  throw new AppError('port/not-found', `Port ${port} of this sandbox is not exposed.`)
}

async function assertCapacity(tx: Transaction, sandboxId: SandboxId): Promise<void> {
  if ((await portRepository.list(tx, sandboxId)).length < maxExposedPorts) return
  throw new AppError('port/too-many', `This sandbox exposes ${maxExposedPorts} ports, which is the maximum.`)
}

async function assertNameFree(tx: Transaction, { subdomain, sandboxId, port }: PortRecord): Promise<void> {
  if (subdomain === null) return
  const holder = await portRepository.findNamed(tx, subdomain)
  if (holder && (holder.sandboxId !== sandboxId || holder.port !== port)) throw createNameConflictError(subdomain)
}

function createNameConflictError(subdomain: string): AppError {
  return new AppError('port/taken', `The subdomain \`${subdomain}\` belongs to another port.`)
}
