import type { IncomingMessage } from 'node:http'
import { createForeignOriginError, createOriginGuard } from '#platform/http/originGuard.ts'
import { AppError } from '#shared/appError.ts'
import { securePromptHostName } from '#shared/contract/wallet.ts'

export type RequestGuard = {
  /**
   * Accepts requests from Steward's own pages and from programs other than browsers. Browsers name the initiating page,
   * and a foreign page cannot suppress that in requests that read or change data.
   * @throws AppError `auth/host`, `auth/origin`
   */
  check(request: Pick<IncomingMessage, 'headers' | 'method'>, kind: 'page' | 'call'): void
}

/** Creates a guard that accepts only host names of this address, to prevent DNS rebinding. */
export function createRequestGuard(port: number): RequestGuard {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  const checkOrigin = createOriginGuard({
    name: 'Steward',
    isOwnHost: (host) => hosts.includes(host),
    isOwnOrigin: (origin, host) => origin === `http://${host}`,
  })
  return {
    check({ headers, method }, kind) {
      checkOrigin(headers)
      const site = headers['sec-fetch-site']
      if (site === undefined || site === 'same-origin' || site === 'none') return
      // A link on another site may navigate to a page. The request carries no cookie, and the page shows nothing
      // without one.
      if (kind === 'page' && method === 'GET' && headers['sec-fetch-mode'] === 'navigate') return
      throw new AppError('auth/origin', 'Pages of other sites cannot call this Steward.')
    },
  }
}

export type SecurePromptGuard = {
  /** Whether the request uses the host name of the secure prompts, which serves nothing else. */
  isForPrompts(request: Pick<IncomingMessage, 'headers'>): boolean
  /** Accepts frames that open a secure prompt, its forms and its files. @throws AppError `auth/origin` */
  check(request: Pick<IncomingMessage, 'headers' | 'method'>): void
}

export function createSecurePromptGuard(port: number): SecurePromptGuard {
  const securePromptHost = `${securePromptHostName}:${port}`
  return {
    isForPrompts: ({ headers }) => headers.host?.toLowerCase() === securePromptHost,
    check({ headers, method }) {
      const { origin, 'sec-fetch-site': site } = headers
      // A form on a page with `no-referrer` sends a null origin:
      // https://fetch.spec.whatwg.org/#append-a-request-origin-header
      const isOwn =
        origin === undefined || origin === `http://${securePromptHost}` || (origin === 'null' && site === 'same-origin')
      if (!isOwn) throw createForeignOriginError('the wallet', origin)
      if (site === undefined || site === 'same-origin') return
      const isFrame = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'iframe'
      if (method === 'GET' && isFrame) return
      throw new AppError('auth/origin', 'Wallet pages only open in the Steward window.')
    },
  }
}
