import { isLocalServer } from '#platform/net/strangerAddress.ts'
import { AppError } from '#shared/appError.ts'
import type { Requester } from '#shared/contract/intents.ts'
import { parseSellerAddress } from './sellerAddress.ts'

/**
 * Decides which addresses a requester may send requests to. Servers on this computer trust all local clients, so only
 * the window may reach all of them. Programs and models may reach only servers that the user allowed, and Steward's
 * service.
 */
export type SellerAccess = {
  /** @throws AppError `purchase/address` */
  requireAddress(address: string, requester: Requester): URL
  /** @throws AppError `request/invalid`, `intent/stopped` if this requester may not use the method */
  assertMethod(method: string, requester: Requester, options?: { readsOnly: boolean }): void
}

type Options = {
  /** Returns hosts with ports, such as `127.0.0.1:8080`. */
  getNamedServers: () => readonly string[]
  isOwnService: (url: string) => boolean
  isStopped: () => boolean
}

export function createSellerAccess({ getNamedServers, isOwnService, isStopped }: Options): SellerAccess {
  return {
    requireAddress(address, { kind }) {
      const url = parseSellerAddress(address)
      const isOpen = kind === 'person' || !isLocalServer(url) || isOwnService(url.href)
      if (isOpen || getNamedServers().includes(formatHostWithPort(url))) return url
      throw new AppError('purchase/address', `${url.host} is on this computer, which programs cannot reach.`, {
        detail: 'The user can allow it in Steward: Payments, Limits.',
      })
    },
    assertMethod(method, { kind }, { readsOnly } = { readsOnly: false }) {
      if (kind === 'person' || isReading(method)) return
      if (readsOnly) {
        throw new AppError('request/invalid', `\`method\` must be GET or HEAD to look up a price, not ${method}.`)
      }
      if (isStopped()) throw new AppError('intent/stopped', 'Signing and tools are stopped.')
    },
  }
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

function formatHostWithPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === '' ? { 'http:': 80, 'https:': 443 }[protocol] : port}`
}
