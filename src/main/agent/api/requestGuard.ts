import type { IncomingMessage } from 'node:http'
import { createForeignOriginError, createOriginGuard } from '#platform/http/originGuard.ts'
import { AppError } from '#shared/appError.ts'
import { securePromptHostName } from '#shared/contract/wallet.ts'

export type RequestGuard = {
  /**
   * Accepts requests of this Steward's own pages and of programs other than browsers. Browsers name the initiating
   * page; a foreign page cannot omit that from requests that read or change.
   * @throws AppError `auth/host`, `auth/origin`
   */
  check(request: Pick<IncomingMessage, 'headers' | 'method'>, kind: 'page' | 'call'): void
}

/** Only names of this very address are served: DNS that was rebound to it carries another one. */
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
      // A link elsewhere may lead to our page: it carries no cookie, and shows nothing without one.
      if (kind === 'page' && method === 'GET' && headers['sec-fetch-mode'] === 'navigate') return
      throw new AppError('auth/origin', 'Pages of another site may not call this Steward.')
    },
  }
}

export type SecurePromptGuard = {
  /** Whether it is for the host name of the secure prompts, on which nothing else is served. */
  isForPrompts(request: Pick<IncomingMessage, 'headers'>): boolean
  /**
   * Lets through frames that begin a secure prompt, its own forms and its own files.
   * @throws AppError `auth/origin`
   */
  check(request: Pick<IncomingMessage, 'headers' | 'method'>): void
}

export function createSecurePromptGuard(port: number): SecurePromptGuard {
  const securePromptHost = `${securePromptHostName}:${port}`
  return {
    isForPrompts: ({ headers }) => headers.host?.toLowerCase() === securePromptHost,
    check({ headers, method }) {
      const { origin, 'sec-fetch-site': site } = headers
      // A form of a page that sends no referrer names no origin either: https://fetch.spec.whatwg.org/#append-a-request-origin-header
      const isOwn =
        origin === undefined || origin === `http://${securePromptHost}` || (origin === 'null' && site === 'same-origin')
      if (!isOwn) throw createForeignOriginError('the wallet', origin)
      if (site === undefined || site === 'same-origin') return
      const isFrame = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'iframe'
      if (method === 'GET' && isFrame) return
      throw new AppError('auth/origin', 'The pages of the wallet open in the window of Steward only.')
    },
  }
}
