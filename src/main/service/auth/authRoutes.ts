import {
  createNonce,
  getMe,
  type LinkedWallet,
  linkWallet,
  refreshTokens,
  signOut,
  unlinkWallet,
  verifySignIn,
  verifySolanaSignIn,
} from '#shared/contract/auth.ts'
import type { AccountId } from '#shared/ids.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Query, Transaction } from '#storage/store.ts'
import type { AccountRepository } from '../accounts/accountRepository.ts'
import { createEndpoint, createSignInEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { ServicePrincipals } from '../base/principals.ts'
import type { LinkedWallets } from './linkedWallets.ts'
import type { Nonces } from './nonces.ts'
import { refreshTokenRepository } from './refreshTokenRepository.ts'
import type { SignIns } from './signIns.ts'
import { toCaip10, type WalletRecord, walletRepository } from './walletRepository.ts'

export function createAuthRoutes(options: {
  nonces: Pick<Nonces, 'create'>
  signIns: SignIns
  linked: LinkedWallets
  read: Query
  accounts: Pick<AccountRepository, 'findKey'>
  principals: Pick<ServicePrincipals, 'assertPresent'>
}): Endpoint[] {
  const { nonces, signIns, linked, read, accounts, principals } = options
  return [
    createSignInEndpoint(createNonce, async (_, { openQuota }) => {
      const count = await openQuota('nonce')
      count()
      const { nonce, expiresAtMs } = await nonces.create()
      return { nonce, expires_at: toIsoTime(expiresAtMs) }
    }),
    createSignInEndpoint(verifySignIn, async ({ body: { chain_type: chainType, ...body } }, { host, openQuota }) =>
      signIns.verify({ ...body, chainType, host }, await openQuota('account')),
    ),
    createSignInEndpoint(verifySolanaSignIn, async ({ body }, { host, openQuota }) =>
      signIns.verify({ ...body, chainType: 'solana', host }, await openQuota('account')),
    ),
    createSignInEndpoint(refreshTokens, ({ body }) => signIns.refresh(body.refresh_token)),
    createSignInEndpoint(signOut, async ({ body }) => {
      await signIns.end(body.refresh_token)
      return { success: true }
    }),
    createEndpoint(getMe, async ({ query }, { caller }) => {
      const listed = await walletRepository.list(read, caller.accountId)
      const wallet = caller.wallet ?? listed[0]
      const key = caller.keyId === undefined ? undefined : await accounts.findKey(read, caller.accountId, caller.keyId)
      return {
        id: caller.accountId,
        wallet_address: wallet?.address ?? null,
        wallet_type: wallet?.type ?? null,
        email: null,
        name: null,
        role: caller.owner ? 'owner' : 'user',
        wallets: listed.map(toWire),
        api_key: key
          ? {
              ...{ id: key.id, name: key.name, key_prefix: key.prefix },
              limited: key.models !== null || key.dailyLimit !== null,
            }
          : null,
        sign_in_id: caller.principal?.startsWith('sign-in:') ? caller.principal.slice('sign-in:'.length) : null,
        ...(query.sign_in_ids !== undefined && {
          active_sign_in_ids: await listActiveSignIns(read, caller.accountId, query.sign_in_ids.split(',')),
        }),
      }
    }),
    createEndpoint(linkWallet, async ({ body: { chain_type: chainType, ...body } }, { caller, host }) => {
      const assertAllowed = (tx: Transaction) => principals.assertPresent(tx, caller.principal)
      return toWire(await linked.link(caller, { ...body, chainType, host }, assertAllowed))
    }),
    createEndpoint(unlinkWallet, async ({ params }, { caller, lease }) => {
      lease?.release() // released so that a sign-in that unlinks its own wallet receives the response
      const { wallet, revokedKeys, linkedWallets, remaining } = await linked.unlink(caller, params.address)
      return {
        success: true,
        wallet_address: wallet.address,
        revoked_api_keys: revokedKeys.map(({ id, name }) => ({ id, name })),
        linked_wallets: linkedWallets.map(({ address }) => address),
        message: unlinkMessage({
          keys: revokedKeys.length,
          wallets: remaining,
          linked: linkedWallets.length,
        }),
      }
    }),
  ]
}

async function listActiveSignIns(read: Query, accountId: AccountId, ids: readonly string[]): Promise<string[]> {
  const active: string[] = []
  for (const id of ids) {
    const rights = await refreshTokenRepository.findRights(read, id)
    if (rights?.accountId === accountId) active.push(id)
  }
  return active
}

/** @param counts revoked keys, wallets that are still linked, and how many of these the unlinked wallet linked */
function unlinkMessage({ keys, wallets, linked }: { keys: number; wallets: number; linked: number }): string {
  const revoked = keys === 1 ? 'the API key that they created is' : `the ${keys} API keys that they created are`
  const ended = `The wallet is unlinked from this account. Its sign-ins have ended${keys === 0 ? '' : `, and ${revoked} revoked`}.`
  if (wallets === 0) return ended
  if (wallets === 1) return `${ended} One other wallet${linked === 1 ? ', which it linked,' : ''} still signs in.`
  return `${ended} ${wallets} other wallets still sign in${linked === 0 ? '' : `, ${linked} of which it linked`}.`
}

function toWire(wallet: WalletRecord): LinkedWallet {
  const { type, address, linkedAtMs, linkedBy } = wallet
  return {
    ...{ wallet_address: address, wallet_type: type, caip10: toCaip10(wallet) },
    ...{ linked_at: toIsoTime(linkedAtMs), linked_by: linkedBy },
  }
}
