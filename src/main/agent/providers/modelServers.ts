import { createSerialQueue } from '#platform/concurrency/serialQueue.ts'
import { AppError } from '#shared/appError.ts'
import {
  type DiscoveredServer,
  type ModelPrice,
  type ModelServer,
  ModelServerId,
  type ModelServers,
} from '#shared/contract/providers.ts'
import type { ModelCommand } from '#shared/contract/supervision.ts'
import { toIsoTime } from '#shared/time.ts'
import { person } from '../base/actors.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { ModelServerProbe, ProbeResult } from './modelServerProbe.ts'
import type { ModelServerRepository, ServerRow } from './modelServerRepository.ts'
import { type ProviderKeyStore, validateKey } from './providerKeyStore.ts'
import { assertLocalService } from './providerKeys.ts'

/** Model servers that the user added. */
export type ModelServerStore = {
  list(): ModelServers
  /** @throws AppError `model-server/not-found`, `provider-key/remote-service` */
  get(id: ModelServerId): ModelServer
  /** Probes the well-known ports of this computer only. */
  find(): Promise<DiscoveredServer[]>
  /** @throws AppError `model-server/exists`, `model-server/too-many`, `model-server/unreachable` */
  add(server: { name: string; baseUrl: string; isFree?: boolean | undefined }): Promise<ModelServer>
  /** @throws AppError `model-server/not-found` */
  change(id: ModelServerId, changes: ServerChanges): Promise<ModelServer>
  /** @throws AppError `model-server/not-found`, `model-server/unreachable` */
  refresh(id: ModelServerId): Promise<ModelServer>
  /**
   * Tests the key first, and does not store a rejected key.
   * @throws AppError same as `refresh`, and `provider-key/invalid`
   */
  setKey(id: ModelServerId, key: string): Promise<void>
  /** @throws AppError `model-server/not-found`, `wallet/keychain-…` */
  remove(id: ModelServerId): Promise<void>
  /** Sends all servers to the service. */
  announce(): void
}

/** Changes to a server. Undefined fields are not changed. */
export type ServerChanges = { isFree?: boolean | undefined; price?: ModelPrice | null | undefined }

export type DefaultEndpoint = { name: string; title: string; baseUrl: string }
export const defaultEndpoints: readonly DefaultEndpoint[] = [
  { name: 'ollama', title: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { name: 'lm-studio', title: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1' },
  { name: 'llama-cpp', title: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
]

type Options = {
  repository: ModelServerRepository
  keyStore: ProviderKeyStore
  probe: ModelServerProbe['probe']
  /** Names of servers from the configuration. */
  configured: readonly string[]
  endpoints?: readonly DefaultEndpoint[]
  notifyService: ((order: ModelCommand) => void) | undefined
  events: Pick<LocalEvents, 'publish'>
  recordActivity: RecordActivity
  newId: () => string
  now: () => number
}

const maxServers = 20
const findMs = 1_500
const readMs = 10_000

export function createModelServers(options: Options): ModelServerStore {
  const { repository, keyStore, probe, notifyService, events, recordActivity, now } = options
  const runExclusive = createSerialQueue()
  const record = (kind: string, summary: string, subject: string) =>
    recordActivity({ kind, actor: person, summary, subject })

  const toWire = (row: ServerRow): ModelServer => toWireServer(row, keyStore.about(row.id))
  const requireServer = (id: ModelServerId): ServerRow => {
    assertLocalService(notifyService)
    const row = repository.all().find((it) => it.id === id)
    if (!row) throw new AppError('model-server/not-found', `There is no model server ${id}.`)
    return row
  }
  const announce = (): void => {
    const servers = repository.all().map((row) => {
      const { id, name, baseUrl, models, isFree } = row
      return {
        name,
        base_url: baseUrl,
        api_key: keyStore.findKey(id) ?? null,
        models,
        free: isFree,
        prices: listPrices(row),
      }
    })
    notifyService?.({ event: 'local-models', servers })
    events.publish({ type: 'providers.changed' })
  }
  const readModels = async (baseUrl: string, key: string | undefined) => {
    const read = await probe(baseUrl, { key, withinMs: readMs })
    if (read.kind === 'nothing') throw new AppError('model-server/unreachable', `${baseUrl} ${read.why}.`)
    const { models, prices: listedPrices } = read.kind === 'models' ? read : { models: [], prices: {} }
    return { models, listedPrices, needsKey: read.kind === 'needs-key', readAtMs: now() }
  }
  const save = (row: ServerRow): ModelServer => {
    repository.put(row)
    announce()
    return toWire(row)
  }

  return {
    list: () => ({
      managed_by: notifyService ? 'you' : 'operator',
      servers: notifyService ? repository.all().map(toWire) : [],
    }),
    get: (id) => toWire(requireServer(id)),
    find: () => findServers({ repository, probe, endpoints: options.endpoints ?? defaultEndpoints }),
    add: ({ name, baseUrl, isFree = isThisComputer(baseUrl) }) =>
      runExclusive(async () => {
        assertLocalService(notifyService)
        assertNew({ name, baseUrl }, repository.all(), options.configured)
        const read = await readModels(baseUrl, undefined)
        const id = ModelServerId.parse(`mds_${options.newId()}`)
        const added = save({ id, name, baseUrl, isFree, price: null, ...read })
        record('provider.server_added', `You added the model server “${name}” at ${baseUrl}.`, added.id)
        return added
      }),
    change: (id, { isFree, price }) =>
      runExclusive(async () => {
        const row = requireServer(id)
        const changed = save({ ...row, isFree: isFree ?? row.isFree, price: price === undefined ? row.price : price })
        record('provider.server_price', `You changed the price of the model server “${row.name}”.`, id)
        return changed
      }),
    refresh: (id) =>
      runExclusive(async () => {
        const row = requireServer(id)
        return save({ ...row, ...(await readModels(row.baseUrl, keyStore.findKey(id))) })
      }),
    setKey: (id, value) =>
      runExclusive(async () => {
        const row = requireServer(id)
        const key = validateKey(value)
        const read = await readModels(row.baseUrl, key)
        if (read.needsKey) throw new AppError('provider-key/invalid', `${row.name} rejected this key.`)
        await keyStore.store(id, key)
        save({ ...row, ...read })
        record('provider.server_key_set', `You set an API key for the model server “${row.name}”.`, id)
      }),
    remove: (id) =>
      runExclusive(async () => {
        const { name } = requireServer(id)
        await keyStore.remove(id)
        repository.remove(id)
        record('provider.server_removed', `You removed the model server “${name}”.`, id)
        announce()
      }),
    announce,
  }
}

function toWireServer(row: ServerRow, key: ModelServer['key']): ModelServer {
  return {
    id: row.id,
    name: row.name,
    base_url: row.baseUrl,
    models: [...row.models],
    key,
    needs_key: row.needsKey,
    read_at: toIsoTime(row.readAtMs),
    free: row.isFree,
    price: row.price,
    listed_prices: { ...row.listedPrices },
  }
}

async function findServers(options: {
  repository: ModelServerRepository
  endpoints: readonly DefaultEndpoint[]
  probe: ModelServerProbe['probe']
}): Promise<DiscoveredServer[]> {
  const baseUrls = options.repository.all().map(({ baseUrl }) => baseUrl)
  const probed = await Promise.all(
    options.endpoints.map(async (endpoint) => ({
      endpoint,
      read: await options.probe(endpoint.baseUrl, { withinMs: findMs }),
    })),
  )
  return probed.flatMap(({ endpoint: { name, title, baseUrl }, read }) => {
    const models = toModels(read)
    return models ? [{ name, title, base_url: baseUrl, models, added: baseUrls.includes(baseUrl) }] : []
  })
}

/** @throws AppError `model-server/too-many`, `model-server/exists` */
function assertNew(
  { name, baseUrl }: Pick<ServerRow, 'name' | 'baseUrl'>,
  rows: readonly ServerRow[],
  configured: readonly string[],
): void {
  if (rows.length >= maxServers) throw new AppError('model-server/too-many', `You can add ${maxServers} servers.`)
  if (configured.includes(name) || rows.some((it) => it.name === name)) {
    throw new AppError('model-server/exists', `There is already a server named “${name}”.`)
  }
  const same = rows.find((it) => it.baseUrl === baseUrl)
  if (same) throw new AppError('model-server/exists', `${baseUrl} is already added as “${same.name}”.`)
}

function toModels(read: ProbeResult): string[] | undefined {
  return read.kind === 'models' ? read.models : undefined
}

/** Returns the known prices by model; none for a free server. */
function listPrices({ models, isFree, price, listedPrices }: ServerRow): Record<string, ModelPrice> {
  if (isFree) return {}
  return Object.fromEntries(
    models.flatMap((model) => {
      const modelPrice = listedPrices[model] ?? price
      return modelPrice ? [[model, modelPrice]] : []
    }),
  )
}

function isThisComputer(baseUrl: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname)
}
