import type { Keyring } from '#shared/contract/wallet.ts'
import { person, steward } from '../base/actors.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { AccountRow } from './walletRepository.ts'
import type { LockReason } from './walletVault.ts'

const lockReasons: Record<LockReason, string> = {
  person: 'You locked the wallet.',
  unused: 'The wallet was locked after inactivity.',
  screen: 'The wallet was locked with the screen.',
}

/** Activity entries and events of the wallet. */
export type WalletActivity = ReturnType<typeof createWalletActivity>

export function createWalletActivity({
  recordActivity,
  events,
}: {
  recordActivity: RecordActivity
  events: Pick<LocalEvents, 'publish'>
}) {
  const byPerson = (kind: string, summary: string, subject?: string) =>
    recordActivity({ kind, actor: person, summary, ...(subject !== undefined && { subject }) })
  return {
    publishChanged: () => events.publish({ type: 'wallet.changed' }),
    recordLocked: (why: LockReason) =>
      recordActivity({ kind: 'wallet.locked', actor: why === 'person' ? person : steward, summary: lockReasons[why] }),
    recordUnlocked: () => byPerson('wallet.unlocked', 'You unlocked the wallet.'),
    passphraseChanged: () => byPerson('wallet.passphrase_changed', 'You changed the wallet passphrase.'),
    recordCreated: ({ id, label }: Keyring) =>
      byPerson('wallet.created', `You created “${label}”, a new recovery phrase.`, id),
    /** @param from source, such as `a keystore file` */
    recordImported: ({ id, label }: Keyring, from: string) =>
      byPerson('wallet.imported', `You imported “${label}” from ${from}.`, id),
    /** Records a keyring whose accounts were lost with the database. */
    recordRecovered: ({ id, label }: Keyring) =>
      recordActivity({
        kind: 'wallet.imported',
        actor: steward,
        summary: `Recovered “${label}”: its secret was in the wallet, its accounts were not.`,
        subject: id,
      }),
    recordRemoved: ({ id, label }: Keyring) =>
      byPerson('wallet.removed', `You removed “${label}” from the wallet.`, id),
    recordRevealed: ({ id, label }: Keyring) =>
      byPerson('wallet.revealed', `You viewed the recovery phrase of “${label}”.`, id),
    recordExported: ({ id, address }: AccountRow) =>
      byPerson('wallet.exported', `You exported ${address} to a keystore file.`, id),
    accountAdded: ({ id, label }: Keyring, address: string) =>
      byPerson('wallet.account_added', `You added ${address} to “${label}”.`, id),
    addressCorrected: ({ id, label, address: wrong }: AccountRow, right: string) =>
      recordActivity({
        kind: 'wallet.address_corrected',
        actor: steward,
        summary: `Corrected the address of “${label}” to ${right}. Someone had replaced it with ${wrong}: don't send anything there.`,
        subject: id,
      }),
  }
}
