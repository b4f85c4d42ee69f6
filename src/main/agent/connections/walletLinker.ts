import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import { getMe, linkWallet, type Me, unlinkWallet } from '#shared/contract/auth.ts'
import type { WalletAccountId } from '#shared/contract/wallet.ts'
import type { WalletLink } from '#shared/contract/walletLinks.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { SigningAccount, WalletKeys } from '../wallet/walletKeys.ts'
import { createRemovedWallets } from './removedWallets.ts'
import type { ServiceClient } from './serviceClient.ts'
import type { ServiceLink } from './serviceLink.ts'
import { createTaskRunner } from './taskRunner.ts'
import { anyServiceAccount, type WalletLinkRepository } from './walletLinkRepository.ts'
import type { WalletSignIn } from './walletSignIn.ts'

type Options = {
  link: Pick<ServiceLink, 'status'>
  events: Pick<LocalEvents, 'subscribe'>
  client: Pick<ServiceClient, 'call'>
  wallet: Pick<WalletKeys, 'account' | 'accounts' | 'isUnlocked'>
  records: WalletLinkRepository
  messages: WalletSignIn
  recordActivity: RecordActivity
  log: Log
}

export type LinkedWallets = {
  /** @throws AppError of the service */
  list(signal: AbortSignal): Promise<WalletLink[]>
  /** Links an account again that the user unlinked before. @throws AppError of the service, `wallet/locked`, `intent/denied` */
  link(id: WalletAccountId, signal: AbortSignal): Promise<void>
  /** Unlinks on behalf of the user. Steward does not link the wallet again. @throws AppError of the service */
  unlink(address: string, signal: AbortSignal): Promise<void>
  /** Resolves when there is nothing to link or unlink now. */
  waitUntilSettled(): Promise<void>
  close(): Promise<void>
}

const actor = { kind: 'system', name: 'Steward' } as const

/**
 * Links the wallet's default accounts to the account at the service, once each, so that they can sign in to it. Unlinks
 * accounts that were removed from the wallet. Both are retried on the next connect or unlock. A wallet that the user
 * unlinked remains unlinked.
 */
export function createWalletLinker(options: Options): LinkedWallets {
  const { link, events, client, wallet, records, recordActivity, log } = options
  const closing = new AbortController()
  const { signal } = closing
  /** Addresses that could not be linked since the last unlock. */
  const failed = new Set<string>()
  const isInWallet = (address: string): boolean => wallet.accounts().some((it) => it.address === address)

  const synchronize = async (): Promise<void> => {
    if (!wallet.isUnlocked()) failed.clear()
    if (link.status().state !== 'connected') return
    let me = await client.call(getMe, {}, { signal })
    const stored = [...records.list(me.id), ...records.list(anyServiceAccount)]
    const removed = stored.filter(({ state }) => state === 'unlinking')
    for (const stored of removed) await removedWallets.unlink(stored, me)
    if (removed.length > 0) me = await client.call(getMe, {}, { signal })
    adoptLinks(me, options)
    if (!wallet.isUnlocked()) return
    for (const account of listDefaultAccounts(wallet)) {
      const stored = records.find(me.id, account.address)
      if (!failed.has(account.address) && (!stored || stored.state === 'linking')) await linkOne(account, me.id)
    }
  }
  const linkOne = async (account: SigningAccount, serviceAccount: string): Promise<void> => {
    const { name } = link.status()
    try {
      await sendLink(account, { serviceAccount, signal })
    } catch (error) {
      if (signal.aborted) return
      failed.add(account.address)
      const why = error instanceof Error ? error.message : ''
      const summary = `The wallet ${account.label} was not linked to the account at ${name}. ${why}`.trim()
      recordActivity({ kind: 'service.wallet_not_linked', actor, subject: account.address, summary })
    }
  }

  const runner = createTaskRunner({
    task: synchronize,
    onError: (error) => log.warn('failed to compare wallets with the service account', { error }),
    signal,
  })
  const removedWallets = createRemovedWallets({ ...options, isInWallet, signal })
  const sendLink = createLinkRequest(options, { isInWallet, onRemoved: runner.request })
  const unsubscribe = events.subscribe(({ type }) => {
    if (type === 'wallet.changed' || type === 'ready') runner.request()
  })
  return {
    async list(signal) {
      const me = await client.call(getMe, {}, { signal: signal })
      adoptLinks(me, options)
      return toWalletLinks(me, options)
    },
    async link(id, signal) {
      const account = wallet.accounts().find((it) => it.id === id)
      if (!account) throw new AppError('wallet/account-not-found', `There is no account ${id}.`)
      if (!wallet.isUnlocked()) throw new AppError('wallet/locked', 'The wallet is locked.')
      const { id: serviceAccount } = await client.call(getMe, {}, { signal })
      await sendLink(account, { serviceAccount, signal })
    },
    async unlink(address, signal) {
      const { id: serviceAccount } = await client.call(getMe, {}, { signal })
      const { wallet_address } = await client.call(unlinkWallet, { address }, { signal })
      records.set({ serviceAccount, address: wallet_address, state: 'off', isOwn: false })
    },
    waitUntilSettled: runner.waitUntilIdle,
    async close() {
      unsubscribe()
      closing.abort()
      await runner.waitUntilIdle()
    },
  }
}

/**
 * Creates the request that links one account, and stores its result.
 *
 * @param context `onRemoved` is called if the account was removed from the wallet in the meantime
 */
function createLinkRequest(
  { link, client, records, messages }: Options,
  { isInWallet, onRemoved }: { isInWallet: (address: string) => boolean; onRemoved: () => void },
) {
  return async (
    account: SigningAccount,
    { serviceAccount, signal }: { serviceAccount: string; signal: AbortSignal },
  ): Promise<void> => {
    const why = `Link the wallet to your account at ${link.status().name}.`
    const signed = await messages.sign(account, { why, signal })
    const { address } = account
    if (!isInWallet(address)) throw new AppError('wallet/account-not-found', `The account ${account.id} was removed.`)
    // Written first, so that after a crash the next comparison determines whether the account was linked.
    records.set({ serviceAccount, address, state: 'linking', isOwn: true })
    try {
      await client.call(linkWallet, signed, { signal })
    } catch (error) {
      const isRefused = error instanceof AppError && error.status < 500
      if (isRefused && records.find(serviceAccount, address)?.state === 'linking') {
        records.remove({ serviceAccount, address })
      }
      if (!isRefused && !isInWallet(address)) records.set({ serviceAccount, address, state: 'unlinking', isOwn: true })
      throw error
    }
    // The account may have been removed while the link was created.
    const isPresent = isInWallet(address)
    records.set({ serviceAccount, address, state: isPresent ? 'linked' : 'unlinking', isOwn: true })
    if (!isPresent) onRemoved()
  }
}

/** Updates the stored links of the accounts in the wallet from the service's response. */
function adoptLinks(
  { id: serviceAccount, wallets }: Me,
  { wallet, records }: Pick<Options, 'wallet' | 'records'>,
): void {
  const linked = new Set(wallets.map((it) => it.wallet_address))
  for (const { address } of wallet.accounts()) {
    const stored = records.find(serviceAccount, address)
    if (linked.has(address)) {
      if (stored?.state === 'linked' || stored?.state === 'unlinking') continue
      records.set({ serviceAccount, address, state: 'linked', isOwn: stored?.state === 'linking' })
    } else if (stored?.state === 'linked') {
      records.set({ ...stored, state: 'off' })
    }
  }
}

/** Converts the wallets of the account, and the default accounts that could be linked to it, to their wire format. */
function toWalletLinks({ id, wallets }: Me, { wallet, records }: Pick<Options, 'wallet' | 'records'>): WalletLink[] {
  const accounts = new Map(wallet.accounts().map((account) => [account.address, account]))
  const views = wallets.map(({ wallet_address: address, wallet_type, linked_at, linked_by }): WalletLink => {
    const account = accounts.get(address)
    return {
      ...{ address, chain_type: wallet_type, linked: true, linked_at, linked_by },
      by_steward: account !== undefined && records.find(id, address)?.isOwn === true,
      ...{ account_id: account?.id ?? null, label: account?.label ?? null },
    }
  })
  const linked = new Set(views.map(({ address }) => address))
  const others = listDefaultAccounts(wallet).filter(({ address }) => !linked.has(address))
  return [
    ...views,
    ...others.map(({ id: account_id, address, chainType: chain_type, label }) => ({
      ...{
        address,
        chain_type,
        linked: false,
        linked_at: null,
        linked_by: null,
        by_steward: false,
        account_id,
        label,
      },
    })),
  ]
}

/** Lists the accounts that sign if no account is specified. */
function listDefaultAccounts(wallet: Pick<WalletKeys, 'account'>): SigningAccount[] {
  return (['evm', 'solana'] as const).flatMap((chainType) => {
    try {
      return [wallet.account(chainType)]
    } catch {
      return [] // no account on this chain
    }
  })
}
