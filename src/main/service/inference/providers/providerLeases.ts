import { createPrincipals, type PrincipalId } from '#platform/access/principals.ts'
import { AppError } from '#shared/appError.ts'
import type { CatalogueModel } from '../catalogue/catalogueModel.ts'
import { InferenceError } from '../inferenceError.ts'
import type { Provider } from './provider.ts'

type ProviderId = CatalogueModel['providerId']

/** Completions in progress. Each is aborted when its provider changes, or when everything is stopped. */
export type ProviderLeases = {
  /**
   * Registers a completion.
   * @param abort called once when the provider is removed, its URL or key changes, or everything is stopped
   * @returns a function that ends the lease
   * @throws AppError `intent/stopped`
   */
  begin(providerId: ProviderId, provider: Provider, abort: (error: AppError) => void): () => void
  /** Aborts the completions with a changed provider. */
  compare(): void
  /** Stops or resumes completions. While stopped, every completion is refused, and those in progress are aborted. */
  setStopped(stopped: boolean): void
  isStopped(): boolean
  count(): number
}

type Options = { findProvider: (model: Pick<CatalogueModel, 'providerId'>) => Provider | undefined }

/** A provider may be removed because it costs money or leaks data, so no completion continues after its removal. */
export function createProviderLeases({ findProvider }: Options): ProviderLeases {
  const running = new Map<PrincipalId, { providerId: ProviderId; provider: Provider }>()
  let isStopped = false
  let lastId = 0
  const leases = createPrincipals<Provider, 'completion'>({
    getRights(completion) {
      const begun = running.get(completion)
      const present = begun && findProvider(begun)
      return !isStopped && present && isSame(begun.provider, present) ? present : undefined
    },
    endedError: () =>
      isStopped
        ? new AppError('intent/stopped', 'Everything is stopped.')
        : new InferenceError('unconfigured', 'The provider of this model was removed, or its address or key changed.', {
            reason: 'provider_changed',
          }),
  })
  return {
    begin(providerId, provider, abort) {
      lastId += 1
      const completion: PrincipalId = `completion:${lastId}`
      running.set(completion, { providerId, provider })
      const lease = leases.lease(completion, 'completion', { onEnd: abort })
      const end = (): void => {
        lease.release()
        running.delete(completion)
      }
      if (!lease.error) return end
      end()
      throw lease.error
    },
    compare: leases.endAbsent,
    setStopped(stopped) {
      isStopped = stopped
      leases.endAbsent()
    },
    isStopped: () => isStopped,
    count: () => running.size,
  }
}

function isSame(a: Provider, b: Provider): boolean {
  return a.baseUrl === b.baseUrl && a.apiKey === b.apiKey
}
