import { AppError } from '../../../shared/appError.ts'
import { type ApprovalOptions, approvalGround } from './approvalGround.ts'
import type { Approvals } from './approvals.ts'
import { intentAsking } from './intentAsking.ts'
import { intentDeciding } from './intentDeciding.ts'
import { intentJudging } from './intentJudging.ts'
import { intentResuming } from './intentResuming.ts'
import { policyKeeping } from './policyKeeping.ts'

export function approvalEngine(options: ApprovalOptions): Approvals {
  const ground = approvalGround(options)
  const { intents, grants, watchers, expiry, notes, publish, now, found, isClosed } = ground
  const get: Approvals['get'] = (id) => found(id).record
  const judging = intentJudging(ground)
  const resuming = intentResuming(ground, judging)
  const leaveWallet = options.onWalletChange(resuming.resumeAll)
  resuming.start()

  return {
    ...intentAsking(ground, { judging, sign: resuming.sign }),
    ...intentDeciding(ground, resuming.sign),
    ...policyKeeping(ground),
    async settled(id, { waitMs, signal }) {
      const isOver = () => !['waiting', 'approved'].includes(intents.find(id)?.record.state ?? '')
      get(id)
      await watchers.wait(id, { waitMs, signal, isOver })
      if (isClosed()) throw new AppError('service/unavailable', 'Steward is ending.')
      return get(id)
    },
    get,
    list(filter) {
      expiry.sweep()
      return { intents: intents.list(filter), waiting: intents.countWaiting() }
    },
    grants: () => grants.holding(now()),
    revokeGrant(id) {
      if (!grants.remove(id)) throw new AppError('grant/not-found', `There is no grant \`${id.slice(0, 64)}\`.`)
      notes.grantRevoked(id)
      publish({ type: 'grants.changed' })
    },
    close() {
      leaveWallet()
      ground.close()
    },
  }
}
