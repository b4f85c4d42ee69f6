import { AppError } from '#shared/appError.ts'
import { type Me, unlinkWallet } from '#shared/contract/auth.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { ServiceClient } from './serviceClient.ts'
import type { ServiceLink } from './serviceLink.ts'
import { anyServiceAccount, type StoredWalletLink, type WalletLinkRepository } from './walletLinkRepository.ts'

export type RemovedWallets = {
  /**
   * @param me account at the service
   * @throws AppError of the service if a retry is possible
   */
  unlink(link: StoredWalletLink, me: Me): Promise<void>
}

type RemovedWalletOptions = {
  link: Pick<ServiceLink, 'status'>
  client: Pick<ServiceClient, 'call'>
  records: WalletLinkRepository
  recordActivity: RecordActivity
  isInWallet: (address: string) => boolean
  signal: AbortSignal
}

/** Format of addresses from the service that may be written to the activity log. */
const addressPattern = /^\w{20,64}$/
const maxNamedWallets = 10

export function createRemovedWallets(options: RemovedWalletOptions): RemovedWallets {
  const { link, client, records, recordActivity, isInWallet, signal } = options

  const record = (address: string, summary: string): void => {
    const actor = { kind: 'system', name: 'Steward' } as const
    recordActivity({ kind: 'service.wallet_not_unlinked', actor, subject: address, summary })
  }
  const recordRemainingLink = (address: string, detail: string): void =>
    record(address, `The removed wallet ${address} still signs in to your account at ${link.status().name}. ${detail}`)
  /** Records the wallets that a removed wallet linked, because another holder of its key may have linked them. */
  const recordLinkedByRemoved = (address: string, linked: readonly string[]): void => {
    const names = linked.filter((it) => addressPattern.test(it)).slice(0, maxNamedWallets)
    if (names.length === 0) return
    record(
      address,
      `The removed wallet ${address} linked other wallets, which still sign in to your account at ${link.status().name}: ${names.join(', ')}. In Settings, unlink any that you don't recognize.`,
    )
  }
  const unlinkAtService = async (address: string): Promise<void> => {
    try {
      const { linked_wallets: linked } = await client.call(unlinkWallet, { address }, { signal })
      recordLinkedByRemoved(address, linked)
    } catch (error) {
      if (!isRefusal(error)) throw error
      recordRemainingLink(address, error.message)
    }
  }

  return {
    async unlink(stored, { wallets }) {
      const { address, serviceAccount, isOwn } = stored
      const isUnknown = serviceAccount === anyServiceAccount
      const isLinked = wallets.some((it) => it.wallet_address === address)
      if (isUnknown && !isLinked && !isInWallet(address)) return // another service may have linked it
      if (isLinked && !(isUnknown && isInWallet(address))) {
        if (isUnknown && !isOwn) recordRemainingLink(address, 'Unlink it in Settings if it should not.')
        else await unlinkAtService(address)
      }
      records.remove(stored)
    },
  }
}

/**
 * Whether a retry would be refused again. Retries later if the service is unavailable or does not recognize the
 * sign-in.
 */
function isRefusal(error: unknown): error is AppError {
  return (
    error instanceof AppError && error.status >= 400 && error.status < 500 && ![401, 408, 429].includes(error.status)
  )
}
