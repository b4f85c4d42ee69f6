import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { registerTypedData } from '#shared/contract/automatons.ts'
import { AccountId } from '#shared/ids.ts'
import { type ApiKeyRecord, accountRepository } from '../accounts/accountRepository.ts'
import { accountRoutes } from '../accounts/accountRoutes.ts'
import { type ApiKeyRules, apiKeys } from '../accounts/apiKeys.ts'
import { ensureOwner } from '../accounts/ownerAccount.ts'
import { accessTokens } from '../auth/accessTokens.ts'
import { accountRequestRepository } from '../auth/accountRequestRepository.ts'
import { accountRequestRoutes } from '../auth/accountRequestRoutes.ts'
import { accountRequests } from '../auth/accountRequests.ts'
import { authRoutes } from '../auth/authRoutes.ts'
import { linkedWallets } from '../auth/linkedWallets.ts'
import { newAccounts } from '../auth/newAccounts.ts'
import { nonceRepository } from '../auth/nonceRepository.ts'
import { nonces } from '../auth/nonces.ts'
import { personSession } from '../auth/personSession.ts'
import { refreshTokenRepository } from '../auth/refreshTokenRepository.ts'
import { signInChecks } from '../auth/signInChecks.ts'
import { signIns } from '../auth/signIns.ts'
import { tokenSecret } from '../auth/tokenSecret.ts'
import { walletKey, walletRepository } from '../auth/walletRepository.ts'
import type { Caller, Endpoint } from '../base/endpoint.ts'
import { toIssuer } from '../base/principals.ts'
import { automatonNonces } from '../identity/automatonNonces.ts'
import { automatonRepository } from '../identity/automatonRepository.ts'
import { automatonRoutes } from '../identity/automatonRoutes.ts'
import { automatons } from '../identity/automatons.ts'
import type { ServiceGround } from './serviceGround.ts'

export type IdentityParts = {
  /** Named in /health. */
  capabilities: readonly string[]
  ownerKeyFile: string
  /** Knows the holder of an API key or an access token. */
  holderOf: (credential: string) => Caller | undefined
  owner: AccountId
  /** Undefined for a key that is not there any more. */
  rulesOf: (keyId: string) => ApiKeyRules | undefined
  /** Whose wallet it is, or which account has this id. */
  accountOf: (address: string) => AccountId | undefined
  endpoints: readonly Endpoint[]
}

type Given = {
  /** Micro-dollars that an API key spent in this day of UTC. */
  spentToday: (keyId: string) => number
}

/** Who calls: accounts with their API keys, wallets that sign in, and the automatons that are registered. */
export function identityParts(ground: ServiceGround, given: Given): IdentityParts {
  const { options, database, clock, activity, callers, events, address, principals } = ground
  const { dataDir, now } = options
  const note = activity.noteAccount

  const accounts = accountRepository(database)
  const ownerKeyFile = join(dataDir, 'owner.key')
  const owner = ensureOwner({ accounts, keyFile: ownerKeyFile, now, randomBytes })
  const keys = apiKeys({ accounts, now, randomBytes })
  const person = personSession({ owner, accounts, key: options.personKey ?? (() => undefined) })
  const wallets = walletRepository(database)
  const sessions = refreshTokenRepository(database)
  const access = accessTokens({
    secret: tokenSecret(join(dataDir, 'token.secret'), randomBytes),
    sessions,
    now: clock.steadyMs,
  })
  const signInNonces = nonces({ records: nonceRepository(database), now: clock.steadyMs, randomBytes })
  const checks = signInChecks({
    nonces: signInNonces,
    domains: () => [
      ...(address.publicUrl ? [address.publicUrl.host] : []),
      ...(options.signInDomains ?? []),
      ...(options.ownFronts?.() ?? []),
    ],
    now,
  })
  const created = newAccounts({ accounts, wallets, note, now, randomBytes })
  const requests = accountRequests({
    records: accountRequestRepository(database),
    accounts,
    wallets,
    created,
    note: (entry) => note(owner, entry),
    onChanged: () => events.publish(owner, { type: 'account-requests.changed' }),
    now,
    randomBytes,
  })
  const signedIn = signIns({
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
  const linked = linkedWallets({ checks, wallets, accounts, sessions, requests, note, keys, principals, now })
  principals.add('key', keys.rulesOf)
  principals.add('sign-in', sessions.findRights)
  principals.add('person', () => (options.personKey?.() === undefined ? undefined : { accountId: owner }))

  const automatonRecords = automatonRepository(database)
  const registered = automatons({
    records: automatonRecords,
    nonces: automatonNonces({ records: automatonRecords, now: clock.steadyMs, randomBytes }),
    wallets,
    domainName: options.identityDomainName ?? registerTypedData.defaultDomainName,
    publish: events.publish,
    noteAccount: note,
    now,
  })

  return {
    ownerKeyFile,
    owner,
    rulesOf: keys.rulesOf,
    accountOf(address) {
      const type = /^0x/i.test(address) ? 'evm' : 'solana'
      const known = wallets.find({ type, address })?.accountId
      return known ?? (accounts.hasAccount(address) ? AccountId.parse(address) : undefined)
    },
    holderOf: (credential) => person(credential) ?? keys.identify(credential) ?? access.identify(credential),
    capabilities: ['sign-in', 'identity'],
    endpoints: callers.known([
      ...accountRoutes({ keys, spentToday: given.spentToday, noteAccount: note, principals, issuerOf }),
      ...accountRequestRoutes(requests),
      ...authRoutes({ nonces: signInNonces, signIns: signedIn, linked, wallets, accounts }),
      ...automatonRoutes(registered),
    ]),
  }
}

function issuerOf({ principal, wallet }: Caller): ApiKeyRecord['issuer'] {
  const { signIn } = toIssuer(principal)
  return signIn !== null && wallet ? { signIn, wallet: walletKey(wallet) } : null
}
