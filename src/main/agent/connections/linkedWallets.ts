import { getMe, linkWallet } from '../../../shared/contract/auth.ts'
import type { Log } from '../../platform/log.ts'
import type { LocalEvents } from '../localEvents.ts'
import type { Note } from '../note.ts'
import type { SigningAccount, WalletKeys } from '../wallet/walletKeys.ts'
import type { ServiceClient } from './serviceClient.ts'
import type { ServiceLink } from './serviceLink.ts'
import type { WalletMessages } from './walletMessages.ts'

type Options = {
  link: Pick<ServiceLink, 'status'>
  events: Pick<LocalEvents, 'subscribe'>
  client: Pick<ServiceClient, 'call'>
  wallet: Pick<WalletKeys, 'account' | 'isUnlocked'>
  messages: WalletMessages
  note: Note
  log: Log
}

/**
 * Links the wallet's default accounts to the account at the service, once the wallet is unlocked: so the service knows
 * whose the wallet is. Nothing waits for it, and what fails is noted and tried again after the next unlocking.
 */
export function linkedWallets(options: Options): { close(): Promise<void> } {
  const { link, events, client, wallet, messages, note, log } = options
  const closing = new AbortController()
  const { signal } = closing
  /** Since the wallet was unlocked. */
  const tried = new Set<string>()
  let running: Promise<void> | undefined
  let again = false

  const linkMissing = async (): Promise<void> => {
    if (!wallet.isUnlocked()) tried.clear()
    if (!wallet.isUnlocked() || link.status().state !== 'connected') return
    const untried = defaultAccounts(wallet).filter(({ address }) => !tried.has(address))
    if (untried.length === 0) return
    const { wallets } = await client.call(getMe, {}, { signal })
    for (const account of untried) {
      tried.add(account.address)
      if (!wallets.some((it) => it.wallet_address === account.address)) await linkOne(account)
    }
  }

  const linkOne = async (account: SigningAccount): Promise<void> => {
    const { name } = link.status()
    const actor = { kind: 'system', name: 'Steward' } as const
    try {
      const signed = await messages.sign(account, { why: `Link the wallet to your account at ${name}.`, signal })
      await client.call(linkWallet, signed, { signal })
    } catch (failure) {
      if (signal.aborted) return
      const why = failure instanceof Error ? failure.message : ''
      const summary = `The wallet ${account.label} was not linked to the account at ${name}. ${why}`.trim()
      note({ kind: 'service.wallet_not_linked', actor, subject: account.address, summary })
    }
  }

  const run = async (): Promise<void> => {
    do {
      again = false
      try {
        await linkMissing()
      } catch (failure) {
        if (!signal.aborted) log.warn('the wallet was not linked to the account at the service', { failure })
      }
    } while (again && !signal.aborted)
    running = undefined
  }

  const leave = events.subscribe(({ type }) => {
    if (type !== 'wallet.changed' && type !== 'ready') return
    again = true
    running ??= run()
  })
  return {
    async close() {
      leave()
      closing.abort()
      await running
    },
  }
}

/** Those that sign where none is named: what the service knows the person by. */
function defaultAccounts(wallet: Pick<WalletKeys, 'account'>): SigningAccount[] {
  return (['evm', 'solana'] as const).flatMap((chainType) => {
    try {
      return [wallet.account(chainType)]
    } catch {
      return [] // it has none of this chain
    }
  })
}
