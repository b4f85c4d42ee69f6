import { createOncePerKey, type RepeatableRequest, responseTtlMs } from '#platform/oncePerKey.ts'
import { parseJsonOrUndefined } from '#platform/parseJsonOrUndefined.ts'
import { AccountId } from '#shared/ids.ts'
import type { AnswerRepository } from './answerRepository.ts'

export type IdempotentAnswers = {
  /**
   * Does the work once for each key of an account, and gives what it answered to every repetition within 24 hours.
   * @throws AppError as `oncePerKey`
   */
  once(request: AccountRequest, work: () => Promise<StoredResponse>): Promise<StoredResponse & { replayed: boolean }>
}

export type AccountRequest = Omit<RepeatableRequest, 'holder'> & { accountId: AccountId }
export type StoredResponse = { status: number; body: string }

/** Stored answers per account. Above it, the oldest are removed. */
export const answerBudget = { maxAnswers: 10_000, maxBytes: 16 * 1024 * 1024 }
/** Answers that an account may store between two checks of its budget. */
const uncheckedBudget = { maxAnswers: 50, maxBytes: 2 * 1024 * 1024 }

/** Descriptions of created things are shorter; longer answers are output of commands, which is not parsed. */
const maxCreatedCharacters = 16 * 1024

type Options = {
  answers: AnswerRepository
  now: () => number
  /** For removals. Default: `now`. */
  passedMs?: () => number
  budget?: typeof answerBudget
}

export function createIdempotentAnswers({
  answers,
  now,
  passedMs = now,
  budget = answerBudget,
}: Options): IdempotentAnswers {
  const unchecked = new Map<AccountId, { count: number; bytes: number }>()
  const requests = createOncePerKey<StoredResponse>(({ holder, key }) => {
    const stored = answers.find({ accountId: AccountId.parse(holder), key }, now())
    return stored && { requestHash: stored.requestHash, answer: { status: stored.status, body: stored.body } }
  })
  const trim = (accountId: AccountId, body: string): void => {
    const { count, bytes } = unchecked.get(accountId) ?? { count: 0, bytes: 0 }
    const next = { count: count + 1, bytes: bytes + Buffer.byteLength(body) }
    if (next.count < uncheckedBudget.maxAnswers && next.bytes < uncheckedBudget.maxBytes) {
      unchecked.set(accountId, next)
    } else {
      unchecked.delete(accountId)
      answers.trim(accountId, budget)
    }
  }
  return {
    async once({ accountId, ...request }, work) {
      const { answer, replayed } = await requests.once(
        { ...request, holder: accountId },
        async ({ key, requestHash }) => {
          const { status, body } = await work()
          answers.removeExpired(passedMs())
          answers.store(
            { accountId, key },
            { requestHash, status, body },
            {
              expiresAtMs: now() + responseTtlMs,
              sandboxId: findSandboxId(request.path),
              createdId: findCreatedId(request.path, body),
            },
          )
          trim(accountId, body)
          return { status, body }
        },
      )
      return { ...answer, replayed }
    },
  }
}

/** Returns the id of the thing that an answer describes: `id` of a sandbox or snapshot, `session_id`, `upload_id`. */
function findCreatedId(path: string, body: string): string | undefined {
  const mayCreate = /^\/v1\/(found-)?sandboxes(?:[/?]|$)/.test(path) && body.length <= maxCreatedCharacters
  const answer = mayCreate ? parseJsonOrUndefined(body) : undefined
  if (typeof answer !== 'object' || answer === null) return undefined
  const { id, session_id: sessionId, upload_id: uploadId } = answer as Record<string, unknown>
  return [sessionId, uploadId, id].find(
    (value): value is string => typeof value === 'string' && /^([0-9a-f]{32}|(snap|upl|pty)_[0-9a-f]{24})$/.test(value),
  )
}

function findSandboxId(path: string): string | undefined {
  return /^\/v1\/sandboxes\/([0-9a-f]{32})(?:[/?]|$)/.exec(path)?.[1]
}
