import { randomBytes } from 'node:crypto'
import type { Log } from '../../platform/log.ts'
import type { Database } from '../../storage/openDatabase.ts'
import type { ServiceTarget } from '../connections/serviceTarget.ts'
import type { LocalEvents } from '../localEvents.ts'
import type { Note } from '../note.ts'
import type { Signer } from '../signer/signer.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import { approvalEngine } from './approvalEngine.ts'
import type { Approvals } from './approvals.ts'
import { grantRepository } from './grantRepository.ts'
import { intentRepository } from './intentRepository.ts'
import { policyRepository } from './policyRepository.ts'

type Options = {
  database: Database
  signer: Signer
  wallet: Pick<WalletKeys, 'isUnlocked' | 'accounts'>
  events: LocalEvents
  target: () => ServiceTarget | undefined
  note: Note
  now: () => number
  log: Log
}

/** The approvals of this agent, as its database knows them. */
export function openApprovals({ database, signer, wallet, events, target, note, now, log }: Options): Approvals {
  return approvalEngine({
    intents: intentRepository(database),
    grants: grantRepository(database),
    policies: policyRepository(database),
    signer,
    wallet,
    onWalletChange: (listener) =>
      events.subscribe((event) => {
        if (event.type === 'wallet.changed') listener()
      }),
    serviceHost() {
      const url = target()?.url
      return url === undefined ? undefined : new URL(url).host
    },
    publish: events.publish,
    note,
    newId: () => randomBytes(12).toString('hex'),
    now,
    log,
  })
}
