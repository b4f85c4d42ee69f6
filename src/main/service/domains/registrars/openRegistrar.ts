import type { HttpClient } from '#platform/http/httpClient.ts'
import { createNameComApi } from './namecom/nameComApi.ts'
import { createNameComRegistrar } from './namecom/nameComRegistrar.ts'
import { createNameSiloApi } from './namesilo/nameSiloApi.ts'
import { createNameSiloRegistrar } from './namesilo/nameSiloRegistrar.ts'
import type { Registrar, RegistrarOptions, TldPrice } from './registrar.ts'

/** Opens a remote registrar. */
export function openRegistrar(
  options: Exclude<RegistrarOptions, { kind: 'local' }>,
  { http, now }: { http: HttpClient; now: () => number },
): Registrar {
  const { url, settlesWithinMs } = options
  const registrar =
    options.kind === 'namesilo'
      ? createNameSiloRegistrar({
          api: createNameSiloApi({ http, url, apiKey: options.apiKey }),
          ...{ paymentId: options.paymentId, settlesWithinMs, now },
        })
      : createNameComRegistrar({
          api: createNameComApi({ http, url, username: options.username, token: options.token }),
          ...{ settlesWithinMs, now },
        })
  return { ...registrar, prices: cachePrices(registrar, now) }
}

const priceTtlMs = 60 * 60_000

/**
 * Prices are public and the list is long, so it is cached. A stale list is served while the registrar does not respond.
 */
function cachePrices(registrar: Registrar, now: () => number): Registrar['prices'] {
  let cached: { prices: readonly TldPrice[]; readAtMs: number } | undefined
  let underWay: Promise<readonly TldPrice[]> | undefined
  const read = async (): Promise<readonly TldPrice[]> => {
    const prices = await registrar.prices()
    cached = { prices, readAtMs: now() }
    return prices
  }
  return async () => {
    if (cached && now() - cached.readAtMs < priceTtlMs) return cached.prices
    underWay ??= read().finally(() => {
      underWay = undefined
    })
    try {
      return await underWay
    } catch (error) {
      if (cached) return cached.prices
      throw error
    }
  }
}
