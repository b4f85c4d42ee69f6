import { AccountId } from '../../../shared/ids.ts'
import { answersKeptMs, oncePerKey, type RepeatableRequest } from '../../platform/oncePerKey.ts'
import type { AnswerRepository } from './answerRepository.ts'

export type IdempotentAnswers = {
  /**
   * Does the work once for each key of an account, and gives what it answered to every repetition within 24 hours.
   * @throws AppError as `oncePerKey`
   */
  once(request: AccountRequest, work: () => Promise<KeptAnswer>): Promise<KeptAnswer & { replayed: boolean }>
}

export type AccountRequest = Omit<RepeatableRequest, 'holder'> & { accountId: AccountId }
export type KeptAnswer = { status: number; body: string }

export function idempotentAnswers(options: { answers: AnswerRepository; now: () => number }): IdempotentAnswers {
  const { answers, now } = options
  const requests = oncePerKey<KeptAnswer>(({ holder, key }) => {
    const kept = answers.find({ accountId: AccountId.parse(holder), key }, now())
    return kept && { requestHash: kept.requestHash, answer: { status: kept.status, body: kept.body } }
  })
  return {
    async once({ accountId, ...request }, work) {
      const { answer, replayed } = await requests.once(
        { ...request, holder: accountId },
        async ({ key, requestHash }) => {
          const { status, body } = await work()
          answers.removeExpired(now())
          answers.store({ accountId, key }, { requestHash, status, body }, now() + answersKeptMs)
          return { status, body }
        },
      )
      return { ...answer, replayed }
    },
  }
}
