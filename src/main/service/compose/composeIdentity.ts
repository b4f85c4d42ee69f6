import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { registerTypedData } from '#shared/contract/automatons.ts'
import { AccountId } from '#shared/ids.ts'
import { type ApiKeyRecord, createAccountRepository } from '../accounts/accountRepository.ts'
import { createAccountRoutes } from '../accounts/accountRoutes.ts'
import { type ApiKeyRules, createApiKeys } from '../accounts/apiKeys.ts'
import { ensureOwner } from '../accounts/ownerAccount.ts'
import { createAccessTokens } from '../auth/accessTokens.ts'
import { createAccountRequestRepository } from '../auth/accountRequestRepository.ts'
import { createAccountRequestRoutes } from '../auth/accountRequestRoutes.ts'
import { createAccountRequests } from '../auth/accountRequests.ts'
import { createAuthRoutes } from '../auth/authRoutes.ts'
import { createLinkedWallets } from '../auth/linkedWallets.ts'
import { createNewAccounts } from '../auth/newAccounts.ts'
import { createNonces } from '../auth/nonces.ts'
import { readTokenSecret } from '../auth/readTokenSecret.ts'
import { createRefreshTokenRepository } from '../auth/refreshTokenRepository.ts'
import { createSignInChecks } from '../auth/signInChecks.ts'
import { createSignIns } from '../auth/signIns.ts'
import { createUserSession } from '../auth/userSession.ts'
import { createWalletRepository, toWalletKey } from '../auth/walletRepository.ts'
import { createAutomatonNonces } from '../automatons/automatonNonces.ts'
import { createAutomatonRoutes } from '../automatons/automatonRoutes.ts'
import { createAutomatons } from '../automatons/automatons.ts'
import type { Caller, Endpoint } from '../base/endpoint.ts'
import { toIssuer } from '../base/principals.ts'
import type { ServiceContext } from './serviceContext.ts'

export type IdentityModule = {
  capabilities: readonly string[]
  ownerKeyFile: string
  /** Identifies the caller that an API key or an access token belongs to. */
  findHolder: (credential: string) => Promise<Caller | undefined>
  owner: AccountId
  /** @returns undefined for a revoked key */
  getRules: (keyId: string) => ApiKeyRules | undefined
  /** Finds an account by the address of a wallet or by its id. */
  findAccount: (address: string) => AccountId | undefined
  endpoints: readonly Endpoint[]
}

type IdentityOptions = {
  /** Micro-dollars that an API key spent in the current UTC day. */
  sumSpentToday: (keyId: string) => Promise<number>
}

/** Composes authentication: accounts with API keys, wallet sign-ins and registered automatons. */
export function composeIdentity(context: ServiceContext, dependencies: IdentityOptions): IdentityModule {
  const { options, database, store, clock, activity, callers, events, address, principals } = context
  const { dataDir, now } = options
  const note = activity.recordForAccount

  const accounts = createAccountRepository(database)
  const ownerKeyFile = join(dataDir, 'owner.key')
  const owner = ensureOwner({ accounts, keyFile: ownerKeyFile, now, randomBytes })
  const keys = createApiKeys({ accounts, now, randomBytes })
  const person = createUserSession({ owner, accounts, key: options.personKey ?? (() => undefined) })
  const wallets = createWalletRepository(database)
  const sessions = createRefreshTokenRepository(database)
  const access = createAccessTokens({
    secret: readTokenSecret(join(dataDir, 'token.secret'), randomBytes),
    sessions,
    now: clock.steadyMs,
  })
  const signInNonces = createNonces({ store, now: clock.steadyMs, randomBytes })
  const checks = createSignInChecks({
    nonces: signInNonces,
    domains: () => [
      ...(address.publicUrl ? [address.publicUrl.host] : []),
      ...(options.signInDomains ?? []),
      ...(options.ownFronts?.() ?? []),
    ],
    now,
  })
  const created = createNewAccounts({ accounts, wallets, note, now, randomBytes })
  const requests = createAccountRequests({
    records: createAccountRequestRepository(database),
    accounts,
    wallets,
    created,
    note: (entry) => note(owner, entry),
    onChanged: () => events.publish(owner, { type: 'account-requests.changed' }),
    now,
    passedMs: clock.passedMs,
    randomBytes,
  })
  const signedIn = createSignIns({
    checks,
    wallets,
    accounts,
    sessions,
    access,
    newWallets: options.newWallets ?? 'welcome',
    created,
    requests,
    note,
    principals,
    now: clock.steadyMs,
    randomBytes,
  })
  const linked = createLinkedWallets({ checks, wallets, accounts, sessions, requests, note, keys, principals, now })
  principals.add('key', keys.getRules)
  principals.add('sign-in', sessions.findRights)
  principals.add('person', () => (options.personKey?.() === undefined ? undefined : { accountId: owner }))

  const registered = createAutomatons({
    store,
    nonces: createAutomatonNonces({ store, now: clock.steadyMs, randomBytes }),
    wallets,
    domainName: options.identityDomainName ?? registerTypedData.defaultDomainName,
    publish: events.publish,
    recordForAccount: note,
    now,
  })

  return {
    ownerKeyFile,
    owner,
    getRules: keys.getRules,
    findAccount(address) {
      const type = /^0x/i.test(address) ? 'evm' : 'solana'
      const accountId = wallets.find({ type, address })?.accountId
      return accountId ?? (accounts.hasAccount(address) ? AccountId.parse(address) : undefined)
    },
    findHolder: async (credential) => person(credential) ?? keys.identify(credential) ?? access.identify(credential),
    capabilities: ['sign-in', 'identity'],
    endpoints: callers.bindEndpoints([
      ...createAccountRoutes({
        keys,
        sumSpentToday: dependencies.sumSpentToday,
        recordForAccount: note,
        principals,
        getIssuer,
      }),
      ...createAccountRequestRoutes(requests),
      ...createAuthRoutes({ nonces: signInNonces, signIns: signedIn, linked, wallets, sessions, accounts }),
      ...createAutomatonRoutes(registered),
    ]),
  }
}

function getIssuer({ principal, wallet }: Caller): ApiKeyRecord['issuer'] {
  const { signIn } = toIssuer(principal)
  return signIn !== null && wallet ? { signIn, wallet: toWalletKey(wallet) } : null
}
