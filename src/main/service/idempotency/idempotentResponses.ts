import { createOncePerKey, type RepeatableRequest, responseTtlMs } from '#platform/http/oncePerKey.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AccountId } from '#shared/ids.ts'
import type { Store } from '#storage/store.ts'
import { answerRepository } from './answerRepository.ts'

export type IdempotentResponses = {
  /**
   * Runs the work once per key of an account, and returns the stored response to every repetition within 24 hours.
   * Two processes may both run the work of concurrent repetitions.
   * @throws AppError as `createOncePerKey`; StoreUnavailableError, also after the work
   */
  once(request: AccountRequest, work: () => Promise<StoredResponse>): Promise<StoredResponse & { replayed: boolean }>
}

export type AccountRequest = Omit<RepeatableRequest, 'holder'> & { accountId: AccountId }
export type StoredResponse = { status: number; body: string }

/** Stored responses per account. Above this, the oldest are removed. */
export const answerBudget = { maxAnswers: 10_000, maxBytes: 16 * 1024 * 1024 }
/** Responses that an account may store between two checks of its budget. */
const uncheckedBudget = { maxAnswers: 50, maxBytes: 2 * 1024 * 1024 }

/** Descriptions of created resources are shorter. Longer responses contain command output, which is not parsed. */
const maxCreatedCharacters = 16 * 1024

type Options = {
  store: Store
  now: () => number
  /** Clock for removals. Default: `now`. */
  passedMs?: () => number
  budget?: typeof answerBudget
  /** Called after the responses of an account were trimmed to its budget. */
  onTrimmed?: () => void
}

export function createIdempotentAnswers({
  store,
  now,
  passedMs = now,
  budget = answerBudget,
  onTrimmed = () => {},
}: Options): IdempotentResponses {
  const unchecked = new Map<AccountId, { count: number; bytes: number }>()
  const requests = createOncePerKey<StoredResponse>(async ({ holder, key }) => {
    const stored = await answerRepository.find(store.read, { accountId: AccountId.parse(holder), key }, now())
    return stored && { requestHash: stored.requestHash, answer: { status: stored.status, body: stored.body } }
  })

  /** Counts a stored response. @returns whether the budget of the account must be checked */
  const countUnchecked = (accountId: AccountId, body: string): boolean => {
    const { count, bytes } = unchecked.get(accountId) ?? { count: 0, bytes: 0 }
    const next = { count: count + 1, bytes: bytes + Buffer.byteLength(body) }
    const isDue = next.count >= uncheckedBudget.maxAnswers || next.bytes >= uncheckedBudget.maxBytes
    if (isDue) unchecked.delete(accountId)
    else unchecked.set(accountId, next)
    return isDue
  }
  /** Apart from the transaction that stores a response, so that requests do not conflict over expired ones. */
  const removeOld = async (accountId: AccountId, body: string): Promise<void> => {
    const isTrimDue = countUnchecked(accountId, body)
    const nowMs = passedMs()
    await store.write((tx) => answerRepository.removeExpired(tx, nowMs), { isolation: 'read committed' })
    if (!isTrimDue) return
    await store.write((tx) => answerRepository.trim(tx, accountId, budget), { isolation: 'read committed' })
    onTrimmed()
  }
  return {
    async once({ accountId, ...request }, work) {
      const { answer, replayed } = await requests.once(
        { ...request, holder: accountId },
        async ({ key, requestHash }) => {
          const { status, body } = await work()
          const references = {
            expiresAtMs: now() + responseTtlMs,
            sandboxId: findSandboxId(request.path),
            createdId: findCreatedId(request.path, body),
          }
          await store.write((tx) =>
            answerRepository.store(tx, { accountId, key }, { requestHash, status, body }, references),
          )
          await removeOld(accountId, body)
          return { status, body }
        },
      )
      return { ...answer, replayed }
    },
  }
}

/** Returns the id of the created resource in a response, in the form that `removeCreated` and the triggers use. */
function findCreatedId(path: string, body: string): string | undefined {
  const kind = createdKinds.find((it) => it.path.test(path))
  const answer = kind && body.length <= maxCreatedCharacters ? parseJsonOrUndefined(body) : undefined
  const owner = kind?.path.exec(path)?.[1] ?? ''
  return typeof answer === 'object' && answer !== null ? kind?.getId(answer as Answer, owner) : undefined
}

type Answer = Readonly<Record<string, unknown>>
type CreatedKind = { path: RegExp; getId(answer: Answer, owner: string): string | undefined }

const createdKinds: readonly CreatedKind[] = [
  {
    path: /^\/v1\/sandboxes\/([0-9a-f]{32})\/ports(?:\/expose)?$/,
    getId: ({ port }, sandboxId) => (typeof port === 'number' ? `${sandboxId}:${port}` : undefined),
  },
  {
    path: /^\/v1\/sandboxes\/([0-9a-f]{32})\/domains$/,
    getId: ({ domain }, sandboxId) => (typeof domain === 'string' ? `${sandboxId}:${domain}` : undefined),
  },
  {
    path: /^(?:\/v1)?\/domains\/([^/?]+)\/dns$/,
    getId: ({ record_id: id }, domain) =>
      typeof id === 'string' ? toDnsRecordKey({ domain: domain.toLowerCase(), id }) : undefined,
  },
  {
    path: /^\/v1\/(?:found-)?sandboxes(?:[/?]|$)/,
    getId: ({ id, session_id: sessionId, upload_id: uploadId }) =>
      [sessionId, uploadId, id].find((value): value is string => typeof value === 'string' && createdId.test(value)),
  },
]
const createdId = /^([0-9a-f]{32}|(snap|upl|pty)_[0-9a-f]{24})$/

/** Returns the `created_id` of a DNS record, whose own id is chosen by the registrar. */
export function toDnsRecordKey({ domain, id }: { domain: string; id: string }): string {
  return `dns:${domain}:${id}`
}

function findSandboxId(path: string): string | undefined {
  return /^\/v1\/sandboxes\/([0-9a-f]{32})(?:[/?]|$)/.exec(path)?.[1]
}
