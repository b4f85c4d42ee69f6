import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import { getMe, refreshTokens, signOut, verifySignIn } from '#shared/contract/auth.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { until } from '#test/support/assertions/eventually.ts'
import type { SigningAccount } from '../wallet/walletKeys.ts'
import { createHostedSession } from './hostedSession.ts'
import type { ServiceTarget } from './serviceTarget.ts'
import type { SignInWallet } from './signInWalletRepository.ts'

type Options = Parameters<typeof createHostedSession>[0]

const [first, second] = ['a', 'b'].map((name) => ({
  ...{ id: `wallet_${name}`, address: `0x${name}`, label: `Account ${name}` },
})) as [SigningAccount, SigningAccount] // only these fields are read

/** Opens a session at a service whose token exchange waits for `answer`. */
function openSession() {
  const exchange = Promise.withResolvers<object>()
  const calls: [operation: string, body: { refresh_token?: string }][] = []
  const listeners = new Set<(event: LocalEvent) => void>()
  let state = 'ready'
  let target: ServiceTarget | undefined
  let stored: SignInWallet | undefined
  const tokensOf = (name: string) => ({
    access_token: `access ${name}`,
    refresh_token: `refresh ${name}`,
    expires_in: 900,
  })
  const answers: Record<string, (body: { message?: string }) => unknown> = {
    [verifySignIn.operation]: ({ message = '' }) => tokensOf(message),
    [refreshTokens.operation]: () => exchange.promise,
    [signOut.operation]: () => ({}),
    [getMe.operation]() {
      if (state === 'unreachable') throw new AppError('auth/invalid', 'It has expired.')
      return { id: 'acc_1' }
    },
  }
  const storeWallet = (_: string, wallet: SignInWallet): void => {
    stored = wallet
  }
  const session = createHostedSession({
    endpoint: { url: 'https://service.test', authority: undefined },
    link: {
      status: () => ({ name: 'Service', state }),
      target: () => target,
      connect(next: ServiceTarget) {
        target = next
      },
      disconnect() {
        target = undefined
      },
    },
    events: {
      subscribe(listener: (event: LocalEvent) => void) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    client: {
      async call({ operation }: { operation: string }, body: object) {
        calls.push([operation, body])
        return answers[operation]?.(body)
      },
    },
    wallet: { account: () => first, accounts: () => [first, second], isUnlocked: () => true },
    records: { find: () => stored, set: storeWallet },
    findUnlinkedAt: async () => {},
    messages: { sign: async ({ label }: SigningAccount) => ({ message: label, signature: '0x' }) },
    recordActivity: () => {},
    now: Date.now,
    log: silentLog,
  } as unknown as Options) // the methods that are called
  onTestFinished(() => session.close())
  return {
    session,
    calls,
    exchange,
    tokensOf,
    credential: () => target?.key,
    loseService() {
      state = 'unreachable'
      for (const listener of listeners) {
        // the only field that is read
        listener({ type: 'connection.changed', connection: { state: 'unreachable' } } as LocalEvent)
      }
    },
    restoreService() {
      state = 'ready'
    },
  }
}

test('an account chosen during token refresh signs in and the other tokens are revoked', async () => {
  const { session, calls, exchange, tokensOf, credential, loseService, restoreService } = openSession()
  await until('it is signed in', () => credential() === 'access Account a')
  loseService()
  await until('tokens are exchanged', () => calls.some(([operation]) => operation === refreshTokens.operation))
  restoreService()
  await session.choose(second)
  exchange.resolve(tokensOf('late'))
  await until('the other account is signed in', () => credential() === 'access Account b')
  const ended = calls.filter(([operation]) => operation === signOut.operation).map(([, body]) => body.refresh_token)
  expect(ended).toEqual(['refresh Account a', 'refresh late'])
  expect(session.wallet()?.accountId).toBe(second.id)
})
