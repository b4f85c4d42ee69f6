import type { AppError } from '#shared/appError.ts'
import type { CatalogueModel } from '../catalogue/catalogueModel.ts'
import type { Provider } from '../providers/provider.ts'
import type { ProviderLeases } from '../providers/providerLeases.ts'
import type { InferenceReservation } from './inferenceCredits.ts'
import { createOneTimeReservation } from './settlement.ts'

type Dependencies = {
  findProvider: (model: CatalogueModel) => Provider | undefined
  leases: Pick<ProviderLeases, 'begin'>
}

/**
 * Takes the lease of the provider and holds credits. The end of the reservation ends the lease.
 * @param abort aborts the request when its provider changes
 * @throws AppError `intent/stopped`, and the errors of `hold`
 */
export async function reserve(
  { findProvider, leases }: Dependencies,
  { model, abort }: { model: CatalogueModel; abort: (error: AppError) => void },
  hold: () => Promise<InferenceReservation> | InferenceReservation,
): Promise<{ provider: Provider | undefined; reservation: InferenceReservation }> {
  const provider = findProvider(model)
  const end = provider ? leases.begin(model.providerId, provider, abort) : () => {}
  try {
    return { provider, reservation: createOneTimeReservation(await hold(), end) }
  } catch (cause) {
    end()
    throw cause
  }
}
