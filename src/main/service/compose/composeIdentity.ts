import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { registerTypedData } from '#shared/contract/automatons.ts'
import { AccountId } from '#shared/ids.ts'
import type { Transaction } from '#storage/store.ts'
import { type ApiKeyRecord, accountRepository } from '../accounts/accountRepository.ts'
import { createAccountRoutes } from '../accounts/accountRoutes.ts'
import { type ApiKeyRules, createApiKeys } from '../accounts/apiKeys.ts'
import { ensureOwner } from '../accounts/ownerAccount.ts'
import { createAccessTokens } from '../auth/accessTokens.ts'
import { createAccountRequestRoutes } from '../auth/accountRequestRoutes.ts'
import { createAccountRequests } from '../auth/accountRequests.ts'
import { createAuthRoutes } from '../auth/authRoutes.ts'
import { createLinkedWallets } from '../auth/linkedWallets.ts'
import { createNewAccounts } from '../auth/newAccounts.ts'
import { createNonces } from '../auth/nonces.ts'
import { readTokenSecret } from '../auth/readTokenSecret.ts'
import { refreshTokenRepository } from '../auth/refreshTokenRepository.ts'
import { createSignInChecks } from '../auth/signInChecks.ts'
import { createSignIns } from '../auth/signIns.ts'
import { createUserSession } from '../auth/userSession.ts'
import { toWalletKey, type WalletName, walletRepository } from '../auth/walletRepository.ts'
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
  getRules: (keyId: string) => Promise<ApiKeyRules | undefined>
  /** Finds an account by the address of a wallet or by its id. */
  findAccount: (address: string) => Promise<AccountId | undefined>
  endpoints: readonly Endpoint[]
}

type IdentityOptions = {
  /** Micro-dollars that an API key spent in the current UTC day. */
  sumSpentToday: (keyId: string) => Promise<number>
}

/** Composes authentication: accounts with API keys, wallet sign-ins and registered automatons. */
export async function composeIdentity(context: ServiceContext, dependencies: IdentityOptions): Promise<IdentityModule> {
  const { options, store, clock, activity, callers, events, address, principals } = context
  const { dataDir, now } = options
  const note = activity.recordForAccount

  const { read } = store
  const ownerKeyFile = join(dataDir, 'owner.key')
  const owner = await ensureOwner({ store, keyFile: ownerKeyFile, now, randomBytes })
  const keys = createApiKeys({ store, now, randomBytes })
  const person = createUserSession({
    owner,
    keyId: (await keys.list(owner)).find(({ inOwnerFile }) => inOwnerFile)?.id,
    key: options.personKey ?? (() => undefined),
  })
  const findSignIn = (familyId: string, tx?: Transaction) => refreshTokenRepository.findRights(tx ?? read, familyId)
  const access = createAccessTokens({
    secret: readTokenSecret(join(dataDir, 'token.secret'), randomBytes),
    findRights: findSignIn,
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
  const { writeRecorded } = activity
  const created = createNewAccounts({ accounts: accountRepository, now, randomBytes })
  const requests = createAccountRequests({
    ...{ store, writeRecorded, owner, created },
    onChanged: () => events.publish(owner, { type: 'account-requests.changed' }),
    now,
    passedMs: clock.passedMs,
    randomBytes,
  })
  const signedIn = createSignIns({
    ...{ checks, store, writeRecorded, accounts: accountRepository, access },
    newWallets: options.newWallets ?? 'welcome',
    ...{ created, requests, principals },
    now: clock.steadyMs,
    randomBytes,
  })
  const linked = createLinkedWallets({ checks, writeRecorded, requests, keys, principals, now })
  principals.add('key', keys.getRules)
  principals.add('sign-in', findSignIn)
  principals.add('person', () => (options.personKey?.() === undefined ? undefined : { accountId: owner }))

  const registered = createAutomatons({
    store,
    nonces: createAutomatonNonces({ store, now: clock.steadyMs, randomBytes }),
    wallets: {
      find: (wallet: WalletName) => walletRepository.find(read, wallet),
      list: (accountId: AccountId) => walletRepository.list(read, accountId),
    },
    domainName: options.identityDomainName ?? registerTypedData.defaultDomainName,
    publish: events.publish,
    recordForAccount: note,
    now,
  })

  return {
    ownerKeyFile,
    owner,
    getRules: keys.getRules,
    async findAccount(address) {
      const type = /^0x/i.test(address) ? 'evm' : 'solana'
      const wallet = await walletRepository.find(read, { type, address })
      if (wallet) return wallet.accountId
      return (await accountRepository.hasAccount(read, address)) ? AccountId.parse(address) : undefined
    },
    findHolder: async (credential) =>
      person(credential) ?? (await keys.identify(credential)) ?? (await access.identify(credential)),
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
      ...createAuthRoutes({
        ...{ nonces: signInNonces, signIns: signedIn, linked, read, accounts: accountRepository, principals },
      }),
      ...createAutomatonRoutes(registered),
    ]),
  }
}

function getIssuer({ principal, wallet }: Caller): ApiKeyRecord['issuer'] {
  const { signIn } = toIssuer(principal)
  return signIn !== null && wallet ? { signIn, wallet: toWalletKey(wallet) } : null
}
