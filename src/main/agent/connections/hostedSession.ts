import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '#platform/log.ts'
import { AppError } from '#shared/appError.ts'
import { getMe, refreshTokens, signOut, type Tokens, verifySignIn } from '#shared/contract/auth.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { SigningAccount, WalletKeys } from '../wallet/walletKeys.ts'
import type { ServiceClient } from './serviceClient.ts'
import type { ServiceLink } from './serviceLink.ts'
import type { ServiceTarget } from './serviceTarget.ts'
import type { SignInWallet, SignInWalletRepository } from './signInWalletRepository.ts'
import type { WalletMessages } from './walletMessages.ts'

/** Address of a hosted service. */
export type HostedEndpoint = {
  url: string
  /** PEM of the authority that vouches for it; undefined is a public one. */
  authority: string | undefined
}

/** The sign-in of a hosted service, for the window. */
export type HostedSignIn = {
  /** Account of the wallet that signs in; undefined until one has. */
  wallet(): SignInWallet | undefined
  /** Signs in with this account from now on, and ends the sign-in of another one. */
  choose(account: SigningAccount): Promise<void>
}

type Options = {
  place: HostedEndpoint
  link: Pick<ServiceLink, 'status' | 'target' | 'connect' | 'disconnect'>
  events: Pick<LocalEvents, 'subscribe'>
  client: Pick<ServiceClient, 'call'>
  wallet: Pick<WalletKeys, 'account' | 'accounts' | 'isUnlocked'>
  records: SignInWalletRepository
  /** Resolves when wallets that were removed are unlinked, as far as possible now: that needs the sign-in. */
  findUnlinkedAt: () => Promise<void>
  messages: WalletMessages
  note: RecordActivity
  now: () => number
  log: Log
}

type Session = { tokens: Tokens; freshUntilMs: number; wallet: SignInWallet }

/** An access token is exchanged when this part of its life is left. */
const exchangeAt = 0.2
const retry = { firstMs: 1_000, maxMs: 30_000 } as const
const leaveWithinMs = 2_000
/** Whatever life a service gives its tokens: neither asked without a pause, nor beyond what a timer can hold. */
const exchangeMs = { min: 10_000, max: 24 * 3_600_000 } as const

/**
 * Signs in to a hosted service with the wallet, and stays signed in with the same account: another one signs in only when
 * the user chooses it. Access tokens are the credential of all that goes there. Tokens live in memory alone; after a restart the wallet signs in again, once it is unlocked.
 */
export function createHostedSession(options: Options): HostedSignIn & { close(): Promise<void> } {
  const { place, link, events, client, wallet, records, messages, now, log } = options
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

  const keep = (tokens: Tokens, signedIn: SignInWallet): void => {
    const freshMs = tokens.expires_in * 1000 * (1 - exchangeAt)
    session = {
      tokens,
      wallet: signedIn,
      freshUntilMs: now() + Math.min(Math.max(freshMs, exchangeMs.min), exchangeMs.max),
    }
    retryMs = retry.firstMs
    wake(session.freshUntilMs - now())
    if (link.target() !== target) link.connect(target)
  }

  const signIn = async (): Promise<void> => {
    const { name } = link.status()
    if (!hasAccount(wallet)) return tell(`Create or import a wallet to sign in to ${name}.`)
    const account = accountToSignIn()
    if (!account) return tell(`${describeRemovedAccount()} Choose in Settings which account signs in to ${name}.`)
    if (!wallet.isUnlocked()) {
      refused = false
      return tell(`Unlock the wallet to sign in to ${name}.`)
    }
    if (refused) return
    tell(`Signing in to ${name} with ${account.label}.`)
    const signed = await messages.sign(account, { why: `Sign in to ${name}.`, signal })
    const tokens = await client.call(verifySignIn, signed, { credential: null, signal })
    const { id: serviceAccount } = await client.call(getMe, {}, { credential: tokens.access_token, signal })
    const before = records.find(place.url)
    if (accountToSignIn()?.id !== account.id) {
      again = true // another account was chosen, or this one removed
      return revoke(tokens)
    }
    if (
      before?.accountId === account.id &&
      before.serviceAccount !== null &&
      before.serviceAccount !== serviceAccount
    ) {
      await revoke(tokens)
      refused = true
      return tell(
        `${account.label} no longer signs in to your account at ${name}, but to another one. Choose in Settings which account signs in.`,
      )
    }
    const signedIn = { accountId: account.id, address: account.address, serviceAccount }
    records.set(place.url, signedIn)
    keep(tokens, signedIn)
  }

  const tell = (detail: string): void => link.disconnect(detail, 'service/sign-in')

  /** The account that signed in before, or was chosen; the default account where there is none. Undefined: it was removed. */
  const accountToSignIn = (): SigningAccount | undefined => {
    const chosen = records.find(place.url)
    if (!chosen) return defaultAccount(wallet)
    return wallet.accounts().find(({ id }) => id === chosen.accountId)
  }
  const describeRemovedAccount = (): string =>
    `The wallet account ${shortenAddress(records.find(place.url)?.address ?? '')} that signed in was removed.`

  const revoke = async ({ refresh_token }: Tokens): Promise<void> => {
    const within = { credential: null, signal: AbortSignal.timeout(leaveWithinMs) }
    await client.call(signOut, { refresh_token }, within).catch(() => {}) // expires on its own
  }

  /** Ends the session when its account has left the wallet. */
  const endWithWallet = async (present: Session): Promise<void> => {
    const { accountId, address } = present.wallet
    if (wallet.accounts().some(({ id }) => id === accountId)) return
    await Promise.race([options.findUnlinkedAt(), pause(leaveWithinMs, undefined, { signal }).catch(() => {})])
    await endSession(present)
    const summary = `Signed out of ${link.status().name}: the account ${address} was removed from the wallet.`
    options.note({ kind: 'service.signed_out', actor: { kind: 'system', name: 'Steward' }, subject: address, summary })
  }

  const endSession = async (present: Session): Promise<void> => {
    if (session === present) session = undefined
    tell(`Signed out of ${link.status().name}.`)
    await revoke(present.tokens)
  }

  const exchange = async ({ tokens, wallet: signedIn }: Session): Promise<void> => {
    try {
      const fresh = await client.call(
        refreshTokens,
        { refresh_token: tokens.refresh_token },
        { credential: null, signal },
      )
      keep(fresh, signedIn)
    } catch (error) {
      if (!isRefusal(error)) throw error
      session = undefined
      await signIn()
    }
  }

  /** Whether the service still accepts this sign-in, after the connection was lost. */
  const isSignInValid = async (): Promise<boolean> => {
    try {
      await client.call(getMe, {}, { credential: target.key, signal })
      return true
    } catch (error) {
      if (isRefusal(error)) return false
      throw error
    }
  }

  const step = async (): Promise<void> => {
    if (session) await endWithWallet(session)
    if (!session) return signIn()
    const isOver = session.freshUntilMs <= now()
    if (isOver || (link.status().state === 'unreachable' && !(await isSignInValid()))) return exchange(session)
    wake(session.freshUntilMs - now())
  }

  const run = async (): Promise<void> => {
    do {
      again = false
      try {
        await step()
      } catch (error) {
        if (signal.aborted) break
        fail(error)
      }
    } while (again && !signal.aborted)
    running = undefined
  }

  const fail = (error: unknown): void => {
    const why = error instanceof AppError ? error.message : 'Something went wrong in Steward.'
    log.warn('signing in to the service has failed', { error })
    if (isFinal(error)) {
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

  const unsubscribe = events.subscribe((event) => {
    if (event.type === 'wallet.changed') proceed()
    if (event.type === 'connection.changed' && event.connection.state === 'unreachable' && session) proceed()
  })
  proceed()

  return {
    wallet: () => records.find(place.url),
    async choose({ id: accountId, address }) {
      const before = records.find(place.url)
      if (session?.wallet.accountId === accountId) return
      const serviceAccount = before?.accountId === accountId && !refused ? before.serviceAccount : null
      records.set(place.url, { accountId, address, serviceAccount })
      refused = false
      if (session) await endSession(session)
      proceed()
    },
    async close() {
      unsubscribe()
      clearTimeout(timer)
      closing.abort()
      await running
      if (!session) return
      const { tokens } = session
      session = undefined
      await revoke(tokens)
    },
  }
}

/** Asked again at once, it would be refused again. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof AppError)) return false
  return error.code.startsWith('intent/') || ['auth/verification', 'auth/forbidden'].includes(error.code)
}

/** Whether the service rejected the credential, rather than being unavailable. */
function isRefusal(error: unknown): boolean {
  return error instanceof AppError && error.status === 401
}

function hasAccount(wallet: Pick<WalletKeys, 'accounts'>): boolean {
  return wallet.accounts().length > 0
}

function defaultAccount(wallet: Pick<WalletKeys, 'account'>): SigningAccount | undefined {
  for (const chainType of ['evm', 'solana'] as const) {
    try {
      return wallet.account(chainType)
    } catch {
      // it has none of this chain
    }
  }
  return undefined
}
