import { createHash } from 'node:crypto'
import { AppError } from '../../../shared/appError.ts'
import type { AnswerRepository, AnswerSlot, StoredAnswer } from './answerRepository.ts'

export type IdempotentAnswers = {
  /**
   * Does the work once for each key, and gives what it answered to every repetition within 24 hours.
   * A repetition that comes while the first is under way waits for it. Failures are not kept: they may be retried.
   * @throws AppError `request/invalid` for a key of another length, `request/reused-key` when the key was used for another request; what `work` throws.
   */
  once(request: RepeatableRequest, work: () => Promise<KeptAnswer>): Promise<KeptAnswer & { replayed: boolean }>
}

export type RepeatableRequest = AnswerSlot & { method: string; path: string; body: Buffer }
export type KeptAnswer = { status: number; body: string }

const keptMs = 24 * 60 * 60 * 1000
const maxKeyLength = 128

export function idempotentAnswers(options: { answers: AnswerRepository; now: () => number }): IdempotentAnswers {
  const { answers, now } = options
  const underWay = new Map<string, { requestHash: Buffer; outcome: Promise<KeptAnswer> }>()

  const perform = async (slot: AnswerSlot, requestHash: Buffer, work: () => Promise<KeptAnswer>) => {
    const answer = await work()
    const kept: StoredAnswer = { requestHash, ...answer }
    answers.removeExpired(now())
    answers.store(slot, kept, now() + keptMs)
    return answer
  }

  return {
    async once(request, work) {
      checkKey(request.key)
      const slot: AnswerSlot = { accountId: request.accountId, key: request.key }
      const requestHash = hashOf(request)
      const name = `${slot.accountId} ${slot.key}`

      const earlier = underWay.get(name) ?? answers.find(slot, now())
      if (earlier && !earlier.requestHash.equals(requestHash)) {
        throw new AppError('request/reused-key', 'This Idempotency-Key was used for another request.')
      }
      if (earlier && 'outcome' in earlier) return { ...(await earlier.outcome), replayed: true }
      if (earlier) return { status: earlier.status, body: earlier.body, replayed: true }

      const outcome = perform(slot, requestHash, work)
      underWay.set(name, { requestHash, outcome })
      try {
        return { ...(await outcome), replayed: false }
      } finally {
        underWay.delete(name)
      }
    },
  }
}

function checkKey(key: string): void {
  if (key.length > 0 && key.length <= maxKeyLength) return
  throw new AppError('request/invalid', `\`Idempotency-Key\` must have from 1 to ${maxKeyLength} characters.`)
}

function hashOf({ method, path, body }: RepeatableRequest): Buffer {
  const bodyHash = createHash('sha256').update(body).digest()
  return createHash('sha256').update(`${method}\n${path}\n`).update(bodyHash).digest()
}
