import { AppError } from '#shared/appError.ts'
import type { ModelUse } from '../../activity/modelUse.ts'
import type { PresentCaller } from '../../activity/presentCaller.ts'
import type { Payer } from '../../credits/creditReservations.ts'
import type { InferenceCredits } from './inferenceCredits.ts'

type Dependencies = {
  use: Pick<ModelUse, 'record'>
  callers: Pick<PresentCaller, 'by' | 'task'>
  /** Whether the user stopped everything. */
  isStopped: () => boolean
}

/**
 * Wraps credits so that settled amounts are recorded in the activity log with their requester. Rejects reservations
 * while everything is stopped.
 */
export function createRecordedCredits<Caller extends Payer>(
  credits: InferenceCredits<Caller>,
  { use, callers, isStopped }: Dependencies,
): InferenceCredits<Caller> {
  return {
    async reserve(request) {
      if (isStopped()) throw new AppError('intent/stopped', 'Everything is stopped.')
      const reservation = await credits.reserve(request)
      const { caller, model } = request
      // Captured now, because a stream may end outside its request context.
      const origin = { by: callers.by(), task: callers.task() }
      return {
        maxOutputTokens: reservation.maxOutputTokens,
        async settle(charge) {
          const chargedMicroUsd = await reservation.settle(charge)
          use.record({ ...origin, accountId: caller.accountId, model, chargedMicroUsd })
          return chargedMicroUsd
        },
        release: () => reservation.release(),
      }
    },
  }
}
