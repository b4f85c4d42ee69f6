import { AppError } from '#shared/appError.ts'
import { FamilyId, families } from '#shared/contract/families.ts'
import type { Provider, Providers } from '#shared/contract/providers.ts'
import type { ModelCommand } from '#shared/contract/supervision.ts'
import { toIsoTime } from '#shared/time.ts'
import { person } from '../base/actors.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { ProviderKeyStore } from './providerKeyStore.ts'

/** Keys of the five families. Responses never contain a key. */
export type ProviderKeys = {
  list(): Promise<Providers>
  /** Returns the provider of a family for its secure prompt. @throws AppError `provider-key/remote-service` */
  about(family: FamilyId): Provider
  /** @throws AppError `provider-key/remote-service`, `provider-key/invalid`, `wallet/keychain-…` */
  set(family: FamilyId, key: string): Promise<void>
  /** @throws AppError `provider-key/remote-service`, `provider-key/not-found`, `wallet/keychain-…` */
  remove(family: FamilyId): Promise<void>
  /** Called when the key of this family was read or could not be read. */
  announce(family: FamilyId): void
  /** Records whether the provider accepted the key. @param provider name in GET /v1/models */
  learn(provider: string, accepted: boolean): void
}

type Options = {
  keyStore: ProviderKeyStore
  /** Base URLs and keys from the configuration. */
  configured: Readonly<Record<FamilyId, { base_url: string | null; api_key: string | null }>>
  /** Sends a change to the service; undefined if the service runs on another computer. */
  notifyService: ((order: ModelCommand) => void) | undefined
  events: Pick<LocalEvents, 'publish'>
  recordActivity: RecordActivity
  now: () => number
}

export function createProviderKeys({
  keyStore,
  configured,
  notifyService,
  events,
  recordActivity,
  now,
}: Options): ProviderKeys {
  const record = (family: FamilyId, kind: string, summary: string) =>
    recordActivity({ kind, actor: person, subject: families[family].provider, summary })
  const refusedAtMs = new Map<FamilyId, number>()
  const announce = (family: FamilyId): void => {
    refusedAtMs.delete(family)
    notifyService?.({ event: 'provider-key', family, key: keyStore.findKey(family) ?? null })
    events.publish({ type: 'providers.changed' })
  }
  const provider = (family: FamilyId): Provider => {
    const { base_url, api_key } = configured[family]
    const key = keyStore.about(family)
    const inConfig =
      api_key === null ? null : ({ place: 'config', ends_with: null, set_at: null, fault: null } as const)
    const visibleKey = key ?? inConfig
    const refused = refusedAtMs.get(family)
    return {
      ...{ family, name: families[family].title, configured: visibleKey?.place ?? null, key: visibleKey, base_url },
      key_refused_at: refused === undefined ? null : toIsoTime(refused),
    }
  }
  return {
    async list() {
      const providers = notifyService ? FamilyId.options.map(provider) : []
      return { managed_by: notifyService ? 'you' : 'operator', storage: await keyStore.storage(), providers }
    },
    about(family) {
      assertLocalService(notifyService)
      return provider(family)
    },
    async set(family, key) {
      assertLocalService(notifyService)
      const before = keyStore.about(family)
      await keyStore.store(family, key)
      const { title: name } = families[family]
      record(
        family,
        'provider.key_set',
        before ? `You replaced the API key for ${name}.` : `You added an API key for ${name}.`,
      )
      announce(family)
    },
    async remove(family) {
      assertLocalService(notifyService)
      const { title: name } = families[family]
      if (!(await keyStore.remove(family))) throw new AppError('provider-key/not-found', `No key is set for ${name}.`)
      record(family, 'provider.key_removed', `You removed the API key for ${name}.`)
      announce(family)
    },
    announce,
    learn(provider, accepted) {
      const family = FamilyId.options.find((it) => families[it].provider === provider)
      if (family === undefined || refusedAtMs.has(family) !== accepted) return
      if (accepted) refusedAtMs.delete(family)
      else refusedAtMs.set(family, now())
      events.publish({ type: 'providers.changed' })
    },
  }
}

/** @throws AppError `provider-key/remote-service` */
export function assertLocalService(notifyService: unknown): void {
  if (notifyService) return
  throw new AppError(
    'provider-key/remote-service',
    'The service runs on another computer and does not accept keys or model servers from this one.',
  )
}
