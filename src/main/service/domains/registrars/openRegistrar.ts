import type { HttpClient } from '#platform/httpClient.ts'
import { nameComApi } from './namecom/nameComApi.ts'
import { nameComRegistrar } from './namecom/nameComRegistrar.ts'
import { nameSiloApi } from './namesilo/nameSiloApi.ts'
import { nameSiloRegistrar } from './namesilo/nameSiloRegistrar.ts'
import type { Registrar, TldPrice } from './registrar.ts'
import type { RegistrarOptions } from './registrarOptions.ts'

/** A registrar elsewhere. */
export function openRegistrar(
  options: Exclude<RegistrarOptions, { kind: 'local' }>,
  { http, now }: { http: HttpClient; now: () => number },
): Registrar {
  const { url, settlesWithinMs } = options
  const registrar =
    options.kind === 'namesilo'
      ? nameSiloRegistrar({
          api: nameSiloApi({ http, url, apiKey: options.apiKey }),
          ...{ paymentId: options.paymentId, settlesWithinMs, now },
        })
      : nameComRegistrar({
          api: nameComApi({ http, url, username: options.username, token: options.token }),
          ...{ settlesWithinMs, now },
        })
  return { ...registrar, prices: keptPrices(registrar, now) }
}

const pricesKeptMs = 60 * 60_000

/** Anybody may ask for the prices, and the list is long. An old one serves while the registrar does not answer. */
function keptPrices(registrar: Registrar, now: () => number): Registrar['prices'] {
  let kept: { prices: readonly TldPrice[]; readAtMs: number } | undefined
  let underWay: Promise<readonly TldPrice[]> | undefined
  const read = async (): Promise<readonly TldPrice[]> => {
    const prices = await registrar.prices()
    kept = { prices, readAtMs: now() }
    return prices
  }
  return async () => {
    if (kept && now() - kept.readAtMs < pricesKeptMs) return kept.prices
    underWay ??= read().finally(() => {
      underWay = undefined
    })
    try {
      return await underWay
    } catch (failure) {
      if (kept) return kept.prices
      throw failure
    }
  }
}
