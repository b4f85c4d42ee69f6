import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { AppError } from '../../../shared/appError.ts'
import type { AccountId } from '../../../shared/ids.ts'
import { credentialOf } from '../../platform/http/requestCredential.ts'
import { holdsAccessToken } from '../auth/accessTokens.ts'
import type { Caller } from '../endpoint.ts'
import type { PortRecord } from '../ports/portRepository.ts'
import type { PortTokens } from '../ports/portTokens.ts'
import { authentication } from './authentication.ts'
import type { CallerAddress } from './callerAddress.ts'
import type { FailureLimiter } from './failureLimiter.ts'

export const tokenHeader = 'x-steward-port-token'
export const accessCookie = 'steward_port'
/** See `secretTokens`: keys, links to terminals, tokens of ports and of sign-ins. */
const secretPattern = /(sk_steward|stl|spt|srt)_[A-Za-z0-9_-]{43}/

export type PreviewAccess = {
  /**
   * Names of the headers whose secret was used, and must go no further.
   * @throws AppError `auth/required`, `auth/invalid`, `request/rate`
   */
  check(request: Pick<IncomingMessage, 'headers' | 'socket'>, port: PortRecord): ReadonlySet<string>
  /** Whether what the request sent opens the port now; a no counts as no failure. */
  holds(request: Pick<IncomingMessage, 'headers'>, port: PortRecord): boolean
}

type Options = {
  keyHolder: (key: string) => Caller | undefined
  tokens: Pick<PortTokens, 'fits'>
  accountOf: (id: PortRecord['sandboxId']) => AccountId | undefined
  limiter: FailureLimiter
  addressOf: CallerAddress
}

/** Who may use a port: everyone a public one; a private one whoever has a token of it or a key of its account. */
export function previewAccess({ keyHolder, tokens, accountOf, limiter, addressOf }: Options): PreviewAccess {
  const findersFor = (port: PortRecord) => {
    const accountId = accountOf(port.sandboxId)
    const holder = (key: string): Caller | undefined => {
      const caller = keyHolder(key)
      return caller?.accountId === accountId ? caller : undefined
    }
    const bearer = (token: string): Caller | undefined =>
      accountId !== undefined && tokens.fits(token, port)
        ? {
            accountId,
            owner: false,
            managesAccount: false,
            onlySandbox: port.sandboxId,
            keyId: undefined,
            wallet: undefined,
          }
        : undefined
    return [bearer, holder]
  }
  return {
    check(request, port) {
      if (port.visibility === 'public') return new Set()
      const { secret, used } = secretOf(request.headers)
      if (secret === undefined) throw new AppError('auth/required', 'This port is private: it needs a port token.')
      authentication({ finders: findersFor(port), limiter }).identify(secret, addressOf(request))
      return new Set(used)
    },
    holds({ headers }, port) {
      if (port.visibility === 'public') return true
      const { secret } = secretOf(headers)
      return secret !== undefined && findersFor(port).some((find) => find(secret) !== undefined)
    },
  }
}

/** Whether a value holds, anywhere, what opens Steward: as it is, escaped, or in the name and password of `Basic`. */
export function holdsStewardSecret(value: string): boolean {
  const unescaped = value.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  const basic = /^\s*basic\s+(\S+)/i.exec(value)?.[1]
  const forms = [unescaped, ...(basic === undefined ? [] : [Buffer.from(basic, 'base64').toString('latin1')])]
  return forms.some((text) => secretPattern.test(text) || holdsAccessToken(text))
}

function secretOf(headers: IncomingHttpHeaders): { secret: string | undefined; used: readonly string[] } {
  const token = headers[tokenHeader]
  if (token !== undefined) return { secret: String(token), used: [tokenHeader] }
  const cookie = cookieOf(headers)
  if (cookie !== undefined) return { secret: cookie, used: [] }
  const used = headers.authorization === undefined ? 'x-api-key' : 'authorization'
  return { secret: credentialOf(headers), used: [used] }
}

function cookieOf({ cookie }: IncomingHttpHeaders): string | undefined {
  const prefix = `${accessCookie}=`
  return cookie
    ?.split(';')
    .map((it) => it.trim())
    .find((it) => it.startsWith(prefix))
    ?.slice(prefix.length)
}
