import { AppError } from '../../../shared/appError.ts'
import type { IntentRecord } from '../../../shared/contract/intents.ts'
import type { Log } from '../../platform/log.ts'
import type { PreparedIntent, Signer } from '../signer/signer.ts'
import type { IntentRepository } from './intentRepository.ts'

type Options = {
  intents: Pick<IntentRepository, 'find' | 'change'>
  signer: Pick<Signer, 'sign'>
  isStopped: () => boolean
  isClosed: () => boolean
  /** As `change` from `approved`, and gives back what was counted down for it. */
  unsigned: (record: IntentRecord) => boolean
  /** The record is kept so by now. */
  became: (record: IntentRecord) => void
  log: Log
}

/** Signs what was approved. A signature of what was stopped meanwhile is thrown away unseen. */
export function intentSigning({ intents, signer, isStopped, isClosed, unsigned, became, log }: Options) {
  const stillApproved = (id: string): IntentRecord | undefined => {
    const record = intents.find(id)?.record
    return record?.state === 'approved' && !isStopped() ? record : undefined
  }
  /** As it is kept now, changed or not. */
  const settle = (record: IntentRecord): IntentRecord => {
    const changed = record.state === 'signed' ? intents.change(record, 'approved') : unsigned(record)
    if (changed) became(record)
    return intents.find(record.id)?.record ?? record
  }

  return {
    /** @returns the record as it is afterwards: signed, failed, stopped, or waiting for the wallet */
    async sign(record: IntentRecord, prepared: PreparedIntent): Promise<IntentRecord> {
      if (!stillApproved(record.id)) return intents.find(record.id)?.record ?? record
      try {
        const result = await signer.sign(prepared)
        if (isClosed()) throw new AppError('service/unavailable', 'Steward is ending.')
        const approved = stillApproved(record.id)
        if (!approved) return intents.find(record.id)?.record ?? record
        return settle({ ...approved, state: 'signed', result })
      } catch (failure) {
        if (isClosed()) throw failure
        // It was locked a moment ago: the approval holds, and it is signed when the wallet is unlocked.
        if (failure instanceof AppError && failure.code === 'wallet/locked') {
          return settle({ ...record, state: 'waiting' })
        }
        if (!(failure instanceof AppError)) log.error('an intent could not be signed', { intentId: record.id, failure })
        const error = failure instanceof AppError ? failure.message : 'Something went wrong in Steward.'
        return settle({ ...record, state: 'failed', error })
      }
    },
  }
}
