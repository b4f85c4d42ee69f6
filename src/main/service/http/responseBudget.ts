import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'

/** Limits on the bytes of responses that clients have not read yet. */
export type ResponseBudget = {
  /**
   * Checks the account's buffered responses. Call it before work with side effects.
   * @throws AppError `request/rate` above half of the account's limit
   */
  assertCapacity(accountId: AccountId): void
  /**
   * Reserves bytes for a response. An account without buffered responses may send one of any length, within the total
   * limit of all accounts.
   * @returns a function that releases the bytes once
   * @throws AppError `request/rate` if a limit is exceeded
   */
  reserve(accountId: AccountId, bytes: number): () => void
}

export type ResponseLimits = { maxBytes: number; maxBytesPerAccount: number }

export const defaultAnswerLimits: ResponseLimits = {
  maxBytes: 512 * 1024 * 1024,
  maxBytesPerAccount: 128 * 1024 * 1024,
}
const retryAfterSeconds = 2

export function createResponseBudget({ maxBytes, maxBytesPerAccount }: ResponseLimits): ResponseBudget {
  const byAccount = new Map<AccountId, number>()
  let total = 0
  const add = (accountId: AccountId, bytes: number): void => {
    total += bytes
    const sum = (byAccount.get(accountId) ?? 0) + bytes
    if (sum === 0) byAccount.delete(accountId)
    else byAccount.set(accountId, sum)
  }
  return {
    assertCapacity(accountId) {
      if ((byAccount.get(accountId) ?? 0) > maxBytesPerAccount / 2) throw createUnreadError('Your')
    },
    reserve(accountId, bytes) {
      const reserved = byAccount.get(accountId) ?? 0
      if (reserved > 0 && reserved + bytes > maxBytesPerAccount) throw createUnreadError('Your')
      if (total > 0 && total + bytes > maxBytes) throw createUnreadError('Too many')
      add(accountId, bytes)
      let isReserved = true
      return () => {
        if (isReserved) add(accountId, -bytes)
        isReserved = false
      }
    },
  }
}

function createUnreadError(whose: 'Your' | 'Too many'): AppError {
  const message =
    whose === 'Your'
      ? 'Too many responses for this account are still unread.'
      : 'The service has too many unread responses.'
  return new AppError('request/rate', message, { retryAfterSeconds })
}
