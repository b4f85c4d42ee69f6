import { serialQueue } from '#platform/serialQueue.ts'
import { AppError } from '#shared/appError.ts'
import {
  type FoundServer,
  type ModelPrice,
  type ModelServer,
  ModelServerId,
  type ModelServers,
} from '#shared/contract/providers.ts'
import type { ModelOrder } from '#shared/contract/supervision.ts'
import { isoTime } from '#shared/time.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { Note } from '../base/note.ts'
import { checkedKey, type KeptKeys } from './keptKeys.ts'
import type { ModelServerProbe, Probed } from './modelServerProbe.ts'
import type { ModelServerRepository, ServerRow } from './modelServerRepository.ts'
import { requireOwn } from './providerKeys.ts'

/** Model servers of the person's own. */
export type OwnModelServers = {
  list(): ModelServers
  /** @throws AppError `model-server/not-found`, `provider-key/elsewhere` */
  get(id: ModelServerId): ModelServer
  /** Those at the usual ports of this computer. Nobody else is asked. */
  find(): Promise<FoundServer[]>
  /** @throws AppError `model-server/exists`, `model-server/too-many`, `model-server/silent` */
  add(given: { name: string; baseUrl: string; isFree?: boolean | undefined }): Promise<ModelServer>
  /** @throws AppError `model-server/not-found` */
  change(id: ModelServerId, changes: ServerChanges): Promise<ModelServer>
  /** @throws AppError `model-server/not-found`, `model-server/silent` */
  refresh(id: ModelServerId): Promise<ModelServer>
  /** Tries the key first: what refuses it gets none. @throws AppError as `refresh`, `provider-key/invalid` */
  setKey(id: ModelServerId, key: string): Promise<void>
  /** @throws AppError `model-server/not-found`, `wallet/keychain-…` */
  remove(id: ModelServerId): Promise<void>
  /** Hands all of them to the service. */
  tell(): void
}

/** Changes to a server. Undefined fields stay unchanged. */
export type ServerChanges = { isFree?: boolean | undefined; price?: ModelPrice | null | undefined }

/** Where such servers listen unless they are told otherwise. */
export type UsualPlace = { name: string; title: string; baseUrl: string }
export const usualPlaces: readonly UsualPlace[] = [
  { name: 'ollama', title: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { name: 'lm-studio', title: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1' },
  { name: 'llama-cpp', title: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
]

type Options = {
  repository: ModelServerRepository
  kept: KeptKeys
  probe: ModelServerProbe['probe']
  /** Names of the servers in the configuration. */
  configured: readonly string[]
  places?: readonly UsualPlace[]
  tellService: ((order: ModelOrder) => void) | undefined
  events: Pick<LocalEvents, 'publish'>
  note: Note
  newId: () => string
  now: () => number
}

const mostServers = 20
const findMs = 1_500
const readMs = 10_000
const person = { kind: 'person', name: 'You' } as const

export function modelServers(options: Options): OwnModelServers {
  const { repository, kept, probe, configured, places = usualPlaces, tellService, events, note, newId, now } = options
  const inTurn = serialQueue()
  const noted = (kind: string, summary: string, subject: string) => note({ kind, actor: person, summary, subject })

  const shown = ({ id, name, baseUrl, models, needsKey, readAtMs, ...row }: ServerRow): ModelServer => ({
    id,
    name,
    base_url: baseUrl,
    models: [...models],
    key: kept.about(id),
    needs_key: needsKey,
    read_at: isoTime(readAtMs),
    free: row.isFree,
    price: row.price,
    listed_prices: { ...row.listedPrices },
  })
  const found = (id: ModelServerId): ServerRow => {
    requireOwn(tellService)
    const row = repository.all().find((it) => it.id === id)
    if (!row) throw new AppError('model-server/not-found', `There is no model server ${id}.`)
    return row
  }
  const tell = (): void => {
    const servers = repository.all().map((row) => {
      const { id, name, baseUrl, models, isFree } = row
      return { name, base_url: baseUrl, api_key: kept.held(id) ?? null, models, free: isFree, prices: pricesOf(row) }
    })
    tellService?.({ event: 'local-models', servers })
    events.publish({ type: 'providers.changed' })
  }
  const readModels = async (baseUrl: string, key: string | undefined) => {
    const read = await probe(baseUrl, { key, withinMs: readMs })
    if (read.kind === 'nothing') throw new AppError('model-server/silent', `${baseUrl} ${read.why}.`)
    const { models, prices: listedPrices } = read.kind === 'models' ? read : { models: [], prices: {} }
    return { models, listedPrices, needsKey: read.kind === 'needs-key', readAtMs: now() }
  }
  const save = (row: ServerRow): ModelServer => {
    repository.put(row)
    tell()
    return shown(row)
  }

  return {
    list: () => ({
      managed_by: tellService ? 'you' : 'operator',
      servers: tellService ? repository.all().map(shown) : [],
    }),
    get: (id) => shown(found(id)),
    async find() {
      const known = repository.all().map(({ baseUrl }) => baseUrl)
      const probed = await Promise.all(
        places.map(async (place) => ({ place, read: await probe(place.baseUrl, { withinMs: findMs }) })),
      )
      return probed.flatMap(({ place: { name, title, baseUrl }, read }) => {
        const models = modelsOf(read)
        return models ? [{ name, title, base_url: baseUrl, models, added: known.includes(baseUrl) }] : []
      })
    },
    add: ({ name, baseUrl, isFree = isThisComputer(baseUrl) }) =>
      inTurn(async () => {
        requireOwn(tellService)
        const rows = repository.all()
        if (rows.length >= mostServers)
          throw new AppError('model-server/too-many', `You can add ${mostServers} servers.`)
        if (configured.includes(name) || rows.some((it) => it.name === name)) {
          throw new AppError('model-server/exists', `There is already a server named “${name}”.`)
        }
        const same = rows.find((it) => it.baseUrl === baseUrl)
        if (same) throw new AppError('model-server/exists', `${baseUrl} is already added as “${same.name}”.`)
        const read = await readModels(baseUrl, undefined)
        const id = ModelServerId.parse(`mds_${newId()}`)
        const added = save({ id, name, baseUrl, isFree, price: null, ...read })
        noted('provider.server_added', `You added the model server “${name}” at ${baseUrl}.`, added.id)
        return added
      }),
    change: (id, { isFree, price }) =>
      inTurn(async () => {
        const row = found(id)
        const changed = save({ ...row, isFree: isFree ?? row.isFree, price: price === undefined ? row.price : price })
        noted('provider.server_price', `You changed the price of the model server “${row.name}”.`, id)
        return changed
      }),
    refresh: (id) =>
      inTurn(async () => {
        const row = found(id)
        return save({ ...row, ...(await readModels(row.baseUrl, kept.held(id))) })
      }),
    setKey: (id, given) =>
      inTurn(async () => {
        const row = found(id)
        const key = checkedKey(given)
        const read = await readModels(row.baseUrl, key)
        if (read.needsKey) throw new AppError('provider-key/invalid', `${row.name} refuses this key.`)
        await kept.put(id, key)
        save({ ...row, ...read })
        noted('provider.server_key_set', `You set an API key for the model server “${row.name}”.`, id)
      }),
    remove: (id) =>
      inTurn(async () => {
        const { name } = found(id)
        await kept.remove(id)
        repository.remove(id)
        noted('provider.server_removed', `You removed the model server “${name}”.`, id)
        tell()
      }),
    tell,
  }
}

function modelsOf(read: Probed): string[] | undefined {
  return read.kind === 'models' ? read.models : undefined
}

/** Returns the known prices by model. A free server has none. */
function pricesOf({ models, isFree, price, listedPrices }: ServerRow): Record<string, ModelPrice> {
  if (isFree) return {}
  return Object.fromEntries(
    models.flatMap((model) => {
      const known = listedPrices[model] ?? price
      return known ? [[model, known]] : []
    }),
  )
}

function isThisComputer(baseUrl: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname)
}
