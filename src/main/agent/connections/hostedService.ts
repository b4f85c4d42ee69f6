import { AppError } from '../../../shared/appError.ts'
import { getMe, refreshTokens, signOut, type Tokens, verifySignIn } from '../../../shared/contract/auth.ts'
import type { Log } from '../../platform/log.ts'
import type { LocalEvents } from '../localEvents.ts'
import type { SigningAccount, WalletKeys } from '../wallet/walletKeys.ts'
import type { ServiceClient } from './serviceClient.ts'
import type { ServiceLink } from './serviceLink.ts'
import type { ServiceTarget } from './serviceTarget.ts'
import type { WalletMessages } from './walletMessages.ts'

/** Where a hosted service is. */
export type HostedPlace = {
  url: string
  /** PEM of the authority that vouches for it; undefined is a public one. */
  authority: string | undefined
}

type Options = {
  place: HostedPlace
  link: Pick<ServiceLink, 'status' | 'target' | 'connect' | 'disconnect'>
  events: Pick<LocalEvents, 'subscribe'>
  client: Pick<ServiceClient, 'call'>
  wallet: Pick<WalletKeys, 'account' | 'isUnlocked'>
  messages: WalletMessages
  now: () => number
  log: Log
}

type Session = { tokens: Tokens; freshUntilMs: number }

/** An access token is exchanged when this part of its life is left. */
const exchangeAt = 0.2
const retry = { firstMs: 1_000, maxMs: 30_000 } as const
const leaveWithinMs = 2_000
/** Whatever life a service gives its tokens: neither asked without a pause, nor beyond what a timer can hold. */
const exchangeMs = { least: 10_000, most: 24 * 3_600_000 } as const

/**
 * Signs in to a hosted service with the wallet, and stays signed in: access tokens are the credential of all that goes
 * there. Tokens live in memory alone; after a restart the wallet signs in again, once it is unlocked.
 */
export function hostedService(options: Options): { close(): Promise<void> } {
  const { place, link, events, client, wallet, messages, now, log } = options
  const closing = new AbortController()
  const { signal } = closing
  let session: Session | undefined
  let retryMs: number = retry.firstMs
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false
  /** The person, or policy, refused: nothing is asked again before the wallet was locked and unlocked. */
  let refused = false

  const target: ServiceTarget = {
    url: place.url,
    get key() {
      return session?.tokens.access_token ?? ''
    },
    certificate: undefined,
    authority: place.authority,
  }

  const keep = (tokens: Tokens): void => {
    const freshMs = tokens.expires_in * 1000 * (1 - exchangeAt)
    session = { tokens, freshUntilMs: now() + Math.min(Math.max(freshMs, exchangeMs.least), exchangeMs.most) }
    retryMs = retry.firstMs
    wake(session.freshUntilMs - now())
    if (link.target() !== target) link.connect(target)
  }

  const signIn = async (): Promise<void> => {
    const account = accountOf(wallet)
    if (!account)
      return link.disconnect(`Make or import a wallet: ${link.status().name} knows you by it.`, 'service/sign-in')
    if (!wallet.isUnlocked()) {
      refused = false
      return link.disconnect(`Unlock the wallet: ${link.status().name} knows you by it.`, 'service/sign-in')
    }
    if (refused) return
    link.disconnect(`Signing in to ${link.status().name} with ${account.label}.`, 'service/sign-in')
    const signed = await messages.sign(account, { why: `Sign in to ${link.status().name}.`, signal })
    keep(await client.call(verifySignIn, signed, { credential: null, signal }))
  }

  const exchange = async ({ tokens }: Session): Promise<void> => {
    try {
      keep(await client.call(refreshTokens, { refresh_token: tokens.refresh_token }, { credential: null, signal }))
    } catch (failure) {
      if (!isRefusal(failure)) throw failure
      session = undefined
      await signIn()
    }
  }

  /** The service was lost: it is away, or it no longer knows this sign-in. */
  const isKnown = async (): Promise<boolean> => {
    try {
      await client.call(getMe, {}, { credential: target.key, signal })
      return true
    } catch (failure) {
      if (isRefusal(failure)) return false
      throw failure
    }
  }

  const step = async (): Promise<void> => {
    if (!session) return signIn()
    const isOver = session.freshUntilMs <= now()
    if (isOver || (link.status().state === 'unreachable' && !(await isKnown()))) return exchange(session)
    wake(session.freshUntilMs - now())
  }

  const run = async (): Promise<void> => {
    do {
      again = false
      try {
        await step()
      } catch (failure) {
        if (signal.aborted) break
        fail(failure)
      }
    } while (again && !signal.aborted)
    running = undefined
  }

  const fail = (failure: unknown): void => {
    const why = failure instanceof AppError ? failure.message : 'Something went wrong in Steward.'
    log.warn('signing in to the service has failed', { failure })
    if (isFinal(failure)) {
      refused = true
      link.disconnect(`Not signed in. ${why} Lock and unlock the wallet to try again.`, 'service/sign-in')
      return
    }
    if (!session) link.disconnect(why)
    wake(retryMs)
    retryMs = Math.min(retryMs * 2, retry.maxMs)
  }

  const proceed = (): void => {
    again = true
    running ??= run()
  }
  const wake = (ms: number): void => {
    clearTimeout(timer)
    if (!signal.aborted) timer = setTimeout(proceed, ms)
  }

  const leave = events.subscribe((event) => {
    if (event.type === 'wallet.changed' && !session) proceed()
    if (event.type === 'connection.changed' && event.connection.state === 'unreachable' && session) proceed()
  })
  proceed()

  return {
    async close() {
      leave()
      clearTimeout(timer)
      closing.abort()
      await running
      if (!session) return
      const refreshToken = session.tokens.refresh_token
      session = undefined
      const given = { credential: null, signal: AbortSignal.timeout(leaveWithinMs) }
      await client.call(signOut, { refresh_token: refreshToken }, given).catch(() => {}) // it ends by itself
    },
  }
}

/** Asked again at once, it would be refused again. */
function isFinal(failure: unknown): boolean {
  if (!(failure instanceof AppError)) return false
  return failure.code.startsWith('intent/') || ['auth/verification', 'auth/forbidden'].includes(failure.code)
}

/** What the service says of a credential, as against being away. */
function isRefusal(failure: unknown): boolean {
  return failure instanceof AppError && failure.status === 401
}

function accountOf(wallet: Pick<WalletKeys, 'account'>): SigningAccount | undefined {
  for (const chainType of ['evm', 'solana'] as const) {
    try {
      return wallet.account(chainType)
    } catch {
      // it has none of this chain
    }
  }
  return undefined
}
