import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { Tokens } from '#shared/contract/auth.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { SigningAccount, WalletKeys } from '../wallet/walletKeys.ts'
import type { ServiceClient } from './serviceClient.ts'
import type { ServiceLink } from './serviceLink.ts'
import type { ServiceTarget } from './serviceTarget.ts'
import { createSignInRequests, type SignInRequests } from './signInRequests.ts'
import type { SignInWallet, SignInWalletRepository } from './signInWalletRepository.ts'
import { createTaskRunner } from './taskRunner.ts'
import type { WalletSignIn } from './walletSignIn.ts'

export type HostedEndpoint = {
  url: string
  /** PEM certificate of the issuing authority. Undefined for a public authority. */
  authority: string | undefined
}

/** Sign-in at a hosted service, for the window. */
export type HostedSignIn = {
  /** Account of the wallet that signs in, or undefined before the first sign-in. */
  wallet(): SignInWallet | undefined
  /** Signs in with this account from now on, and ends the sign-in of any other account. */
  choose(account: SigningAccount): Promise<void>
}

type Options = {
  endpoint: HostedEndpoint
  link: Pick<ServiceLink, 'status' | 'target' | 'connect' | 'disconnect'>
  events: Pick<LocalEvents, 'subscribe'>
  client: Pick<ServiceClient, 'call'>
  wallet: Pick<WalletKeys, 'account' | 'accounts' | 'isUnlocked'>
  records: SignInWalletRepository
  /** Resolves when removed wallets are unlinked, as far as currently possible. Unlinking requires the sign-in. */
  findUnlinkedAt: () => Promise<void>
  messages: WalletSignIn
  recordActivity: RecordActivity
  now: () => number
  log: Log
}

type Session = { tokens: Tokens; freshUntilMs: number; wallet: SignInWallet }
type SessionState = {
  session: Session | undefined
  /** Whether the user or the policy denied the sign-in. No retry occurs before the wallet is locked and unlocked. */
  isRefused: boolean
}

/** Remaining fraction of an access token's lifetime at which it is exchanged. */
const exchangeThreshold = 0.2
const retry = { firstMs: 1_000, maxMs: 30_000 } as const
const signOutTimeoutMs = 2_000
/** Bounds of the exchange interval for any token lifetime: avoids continuous requests and timer overflow. */
const exchangeMs = { min: 10_000, max: 24 * 3_600_000 } as const

/**
 * Signs in to a hosted service with the wallet, and maintains the sign-in with the same account until the user chooses
 * another one. Access tokens authenticate all requests to the service. Tokens exist in memory only. After a restart the
 * wallet signs in again once it is unlocked.
 */
export function createHostedSession(options: Options): HostedSignIn & { close(): Promise<void> } {
  const { endpoint, link, events, records, now, log } = options
  const closing = new AbortController()
  const { signal } = closing
  const state: SessionState = { session: undefined, isRefused: false }
  const requests = createSignInRequests({ ...options, signal, revokeTimeoutMs: signOutTimeoutMs })
  const target: ServiceTarget = {
    url: endpoint.url,
    get key() {
      return state.session?.tokens.access_token ?? ''
    },
    certificate: undefined,
    authority: endpoint.authority,
  }

  const step = async (): Promise<void> => {
    if (state.session) await endWithWallet(state.session)
    if (!state.session) return signIn()
    const { session } = state
    const isExpired = session.freshUntilMs <= now()
    if (isExpired || (link.status().state === 'unreachable' && !(await requests.isAccepted(target.key)))) {
      return exchange(session)
    }
    timer.wake(session.freshUntilMs - now())
  }
  const fail = (error: unknown): void => {
    const why = error instanceof AppError ? error.message : 'Something went wrong in Steward.'
    log.warn('failed to sign in to the service', { error })
    if (isFinal(error)) {
      state.isRefused = true
      link.disconnect(`Not signed in. ${why} Lock and unlock the wallet to try again.`, 'service/sign-in')
      return
    }
    if (!state.session) link.disconnect(why)
    timer.retry()
  }
  const runner = createTaskRunner({ task: step, onError: fail, signal })
  const timer = createRetryTimer(runner.request, signal)
  const { endSession, endWithWallet } = createSessionEnding(options, { requests, state, signal })

  const connect = (tokens: Tokens, wallet: SignInWallet): void => {
    const freshMs = tokens.expires_in * 1000 * (1 - exchangeThreshold)
    const freshUntilMs = now() + Math.min(Math.max(freshMs, exchangeMs.min), exchangeMs.max)
    state.session = { tokens, wallet, freshUntilMs }
    timer.reset()
    timer.wake(freshUntilMs - now())
    if (link.target() !== target) link.connect(target)
  }
  const signIn = createSignIn(options, { requests, state, connect, restart: runner.request })
  const exchange = async (session: Session): Promise<void> => {
    const fresh = await requests.refresh(session.tokens)
    if (state.session !== session) {
      runner.request() // another account was chosen, so the new tokens end with the previous ones
      return fresh && requests.revoke(fresh)
    }
    if (fresh) return connect(fresh, session.wallet)
    state.session = undefined
    await signIn()
  }

  const unsubscribe = events.subscribe((event) => {
    if (event.type === 'wallet.changed') runner.request()
    if (event.type === 'connection.changed' && event.connection.state === 'unreachable' && state.session) {
      runner.request()
    }
  })
  runner.request()

  return {
    wallet: () => records.find(endpoint.url),
    async choose({ id: accountId, address }) {
      const before = records.find(endpoint.url)
      if (state.session?.wallet.accountId === accountId) return
      const serviceAccount = before?.accountId === accountId && !state.isRefused ? before.serviceAccount : null
      records.set(endpoint.url, { accountId, address, serviceAccount })
      state.isRefused = false
      if (state.session) await endSession(state.session)
      runner.request()
    },
    async close() {
      unsubscribe()
      timer.clear()
      closing.abort()
      await runner.waitUntilIdle()
      if (!state.session) return
      const { tokens } = state.session
      state.session = undefined
      await requests.revoke(tokens)
    },
  }
}

type SignInContext = {
  requests: SignInRequests
  state: SessionState
  /** Called in the same tick in which the account is stored, so that no other account can be chosen in between. */
  connect: (tokens: Tokens, wallet: SignInWallet) => void
  restart: () => void
}

/** Creates the sign-in with the chosen account. If no account can sign in now, sets the reason on the link. */
function createSignIn(
  { endpoint, link, wallet, records }: Options,
  { requests, state, connect, restart }: SignInContext,
): () => Promise<void> {
  const disconnect = (detail: string): void => link.disconnect(detail, 'service/sign-in')

  /**
   * Returns the account that signed in before or was chosen, or else the default account. Undefined if the account was
   * removed.
   */
  const findAccount = (): SigningAccount | undefined => {
    const chosen = records.find(endpoint.url)
    if (!chosen) return findDefaultAccount(wallet)
    return wallet.accounts().find(({ id }) => id === chosen.accountId)
  }
  const describeRemovedAccount = (): string =>
    `The wallet account ${shortenAddress(records.find(endpoint.url)?.address ?? '')} that signed in was removed.`

  return async () => {
    const { name } = link.status()
    if (!hasAccount(wallet)) return disconnect(`Create or import a wallet to sign in to ${name}.`)
    const account = findAccount()
    if (!account) return disconnect(`${describeRemovedAccount()} Choose in Settings which account signs in to ${name}.`)
    if (!wallet.isUnlocked()) {
      state.isRefused = false
      return disconnect(`Unlock the wallet to sign in to ${name}.`)
    }
    if (state.isRefused) return
    disconnect(`Signing in to ${name} with ${account.label}.`)
    const { tokens, serviceAccount } = await requests.signIn(account, `Sign in to ${name}.`)
    const before = records.find(endpoint.url)
    if (findAccount()?.id !== account.id) {
      restart() // another account was chosen, or this one was removed
      return requests.revoke(tokens)
    }
    if (
      before?.accountId === account.id &&
      before.serviceAccount !== null &&
      before.serviceAccount !== serviceAccount
    ) {
      await requests.revoke(tokens)
      state.isRefused = true
      return disconnect(
        `${account.label} now belongs to a different account at ${name}. Choose in Settings which account signs in.`,
      )
    }
    const signedIn = { accountId: account.id, address: account.address, serviceAccount }
    records.set(endpoint.url, signedIn)
    connect(tokens, signedIn)
  }
}

function createSessionEnding(
  { link, wallet, recordActivity, findUnlinkedAt }: Options,
  { requests, state, signal }: { requests: SignInRequests; state: SessionState; signal: AbortSignal },
) {
  const endSession = async (session: Session): Promise<void> => {
    if (state.session === session) state.session = undefined
    link.disconnect(`Signed out of ${link.status().name}.`, 'service/sign-in')
    await requests.revoke(session.tokens)
  }
  return {
    endSession,
    /** Ends the session when its account was removed from the wallet. */
    async endWithWallet(session: Session): Promise<void> {
      const { accountId, address } = session.wallet
      if (wallet.accounts().some(({ id }) => id === accountId)) return
      await Promise.race([findUnlinkedAt(), pause(signOutTimeoutMs, undefined, { signal }).catch(() => {})])
      await endSession(session)
      const summary = `Signed out of ${link.status().name}: the account ${address} was removed from the wallet.`
      recordActivity({
        kind: 'service.signed_out',
        actor: { kind: 'system', name: 'Steward' },
        subject: address,
        summary,
      })
    },
  }
}

/** Calls `onTime` once after each delay. Delays between retries double. */
function createRetryTimer(onTime: () => void, signal: AbortSignal) {
  let timer: NodeJS.Timeout | undefined
  let retryMs: number = retry.firstMs
  const wake = (ms: number): void => {
    clearTimeout(timer)
    if (!signal.aborted) timer = setTimeout(onTime, ms)
  }
  return {
    wake,
    retry(): void {
      wake(retryMs)
      retryMs = Math.min(retryMs * 2, retry.maxMs)
    },
    reset(): void {
      retryMs = retry.firstMs
    },
    clear: (): void => clearTimeout(timer),
  }
}

/** Whether an immediate retry would be refused again. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof AppError)) return false
  return error.code.startsWith('intent/') || ['auth/verification', 'auth/forbidden'].includes(error.code)
}

function hasAccount(wallet: Pick<WalletKeys, 'accounts'>): boolean {
  return wallet.accounts().length > 0
}

function findDefaultAccount(wallet: Pick<WalletKeys, 'account'>): SigningAccount | undefined {
  for (const chainType of ['evm', 'solana'] as const) {
    try {
      return wallet.account(chainType)
    } catch {
      // no account on this chain
    }
  }
  return undefined
}
