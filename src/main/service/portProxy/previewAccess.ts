import type { IncomingMessage } from 'node:http'
import { readCredential } from '#platform/http/requestCredential.ts'
import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import { isAccessToken } from '../auth/accessTokens.ts'
import type { Caller } from '../base/endpoint.ts'
import { createAuthentication } from '../http/authentication.ts'
import type { CallerAddress } from '../http/callerAddress.ts'
import type { FailureLimiter } from '../http/failureLimiter.ts'
import type { FrameSession, FrameSessions } from '../ports/frameSessions.ts'
import type { PortRecord } from '../ports/portRepository.ts'
import type { PortTokens } from '../ports/portTokens.ts'
import type { PreviewCookies } from './previewCookies.ts'

export const tokenHeader = 'x-steward-port-token'
/** Secret tokens of Steward: API keys, terminal links, port tokens and refresh tokens. See `createSecretTokens`. */
const secretPattern = /(sk_steward|stl|spt|srt)_[A-Za-z0-9_-]{43}/

export type PreviewAccess = {
  /** @throws AppError `auth/required`, `auth/invalid`, `request/rate` */
  check(request: Pick<IncomingMessage, 'headers' | 'method' | 'socket'>, port: PortRecord): Promise<GrantedAccess>
  /** Whether a credential in the request opens the port now. A negative result does not count as a failed attempt. */
  holds(request: Pick<IncomingMessage, 'headers' | 'method'>, port: PortRecord): Promise<boolean>
}

export type GrantedAccess = {
  /** Names of the headers whose secret was used. They must not be forwarded. */
  spent: ReadonlySet<string>
  /** Origin of the only page that may show the response in a frame. Undefined if the response's own policy decides. */
  frameOrigin?: string | undefined
  /** Principal whose end closes what the request opens. Undefined for a public port. */
  holder?: PreviewHolder
}

export type PreviewHolder = Pick<Caller, 'principal' | 'expiresAtMs'>

/** @property used headers that contained the secret and must not be forwarded */
type UsedSecret = { secret: string | undefined; used: readonly string[] }

type Options = {
  keyHolder: (key: string) => Promise<Caller | undefined>
  tokens: Pick<PortTokens, 'find'>
  findAccount: (id: PortRecord['sandboxId']) => Promise<AccountId | undefined>
  limiter: FailureLimiter
  addressOf: CallerAddress
  frames: Pick<FrameSessions, 'find'>
  cookies: Pick<PreviewCookies, 'read' | 'readFrame'>
}

/**
 * Authorizes access to ports. Public ports are open to everyone; private ones require a port token or a key of the
 * account.
 */
export function createPreviewAccess({
  keyHolder,
  tokens,
  findAccount,
  limiter,
  addressOf,
  ...options
}: Options): PreviewAccess {
  const { cookies, frames } = options
  const findersFor = async (port: PortRecord) => {
    const accountId = await findAccount(port.sandboxId)
    const holder = async (key: string): Promise<Caller | undefined> => {
      const caller = await keyHolder(key)
      return caller?.accountId === accountId ? caller : undefined
    }
    const bearer = async (token: string): Promise<Caller | undefined> => {
      const principal = accountId && (await tokens.find(token, port))
      if (!principal) return undefined
      return {
        accountId,
        principal,
        owner: false,
        managesAccount: false,
        onlySandbox: port.sandboxId,
        keyId: undefined,
        wallet: undefined,
      }
    }
    return [bearer, holder]
  }
  const fits = async (secret: string, port: PortRecord): Promise<boolean> => {
    for (const find of await findersFor(port)) if ((await find(secret)) !== undefined) return true
    return false
  }
  /** Returns the secret that opens the port, or else any secret in the request. */
  const secretFor = async (
    request: Pick<IncomingMessage, 'headers' | 'method'>,
    port: PortRecord,
  ): Promise<UsedSecret> => {
    const { headers } = request
    const token = headers[tokenHeader]
    if (token !== undefined) return { secret: String(token), used: [tokenHeader] }
    const candidates = cookies.read(request)
    for (const cookie of candidates) if (await fits(cookie, port)) return { secret: cookie, used: [] }
    if (candidates[0] !== undefined) return { secret: candidates[0], used: [] }
    return {
      secret: readCredential(headers),
      used: [headers.authorization === undefined ? 'x-api-key' : 'authorization'],
    }
  }
  const findFrame = async (
    request: Pick<IncomingMessage, 'headers'>,
    port: PortRecord,
  ): Promise<FrameSession | undefined> => {
    for (const secret of cookies.readFrame(request)) {
      const session = await frames.find(secret, port)
      if (session) return session
    }
    return undefined
  }
  return {
    async check(request, port) {
      if (port.visibility === 'public') return { spent: new Set() }
      const frame = await findFrame(request, port)
      if (frame) return { spent: new Set(), frameOrigin: frame.origin, holder: frame }
      const { secret, used } = await secretFor(request, port)
      if (secret === undefined) throw new AppError('auth/required', 'This port is private and requires a port token.')
      const authentication = createAuthentication({ finders: await findersFor(port), limiter })
      const holder = await authentication.identify(secret, addressOf(request))
      return { spent: new Set(used), holder }
    },
    async holds(request, port) {
      if (port.visibility === 'public') return true
      if (await findFrame(request, port)) return true
      const { secret } = await secretFor(request, port)
      return secret !== undefined && (await fits(secret, port))
    },
  }
}

/** Whether a value contains a secret of Steward: as plain text, percent-encoded, or as `Basic` credentials. */
export function hasStewardSecret(value: string): boolean {
  const unescaped = value.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  const basic = /^\s*basic\s+(\S+)/i.exec(value)?.[1]
  const forms = [unescaped, ...(basic === undefined ? [] : [Buffer.from(basic, 'base64').toString('latin1')])]
  return forms.some((text) => secretPattern.test(text) || isAccessToken(text))
}
