import type { AppError } from '#shared/appError.ts'
import type { CatalogueModel } from './catalogueModel.ts'
import type { Reservation } from './inferenceCredits.ts'
import type { Provider } from './provider.ts'
import type { ProviderLeases } from './providerLeases.ts'
import { endedOnce } from './settlement.ts'

type Parts = {
  providerOf: (model: CatalogueModel) => Provider | undefined
  leases: Pick<ProviderLeases, 'begin'>
}

/**
 * Takes the lease of the provider and holds credits. The end of the reservation ends the lease.
 * @param abort ends the request when its provider changes
 * @throws AppError `intent/stopped`, what `hold` throws
 */
export async function reserve(
  { providerOf, leases }: Parts,
  { model, abort }: { model: CatalogueModel; abort: (error: AppError) => void },
  hold: () => Promise<Reservation> | Reservation,
): Promise<{ provider: Provider | undefined; reservation: Reservation }> {
  const provider = providerOf(model)
  const end = provider ? leases.begin(model.place, provider, abort) : () => {}
  try {
    return { provider, reservation: endedOnce(await hold(), end) }
  } catch (failure) {
    end()
    throw failure
  }
}
