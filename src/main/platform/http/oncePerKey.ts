import { createHash } from 'node:crypto'
import { AppError } from '#shared/appError.ts'

/** Request that the client may repeat. The client chooses `key`, which is unique per `holder`. */
export type RepeatableRequest = { holder: string; key: string; method: string; path: string; body: Buffer }
export type KeySlot = { holder: string; key: string; requestHash: Buffer }

export type OncePerKey<T> = {
  /**
   * Runs the work once per key and returns its result to every repetition. Concurrent repetitions wait for it. The work
   * stores its result. Errors are not stored and may be retried.
   * @throws AppError `request/invalid` for a key of invalid length, `request/reused-key` if the key was used for
   * another request; errors of `work`
   */
  once(request: RepeatableRequest, work: (slot: KeySlot) => Promise<T>): Promise<{ answer: T; replayed: boolean }>
}

/** Time to live of a stored response, in milliseconds. */
export const responseTtlMs = 24 * 60 * 60 * 1000
const maxKeyLength = 128

type StoredEntry<T> = { requestHash: Buffer; answer: T }
/** Result of a key: stored, or of the work that runs. */
type Claim<T> = { requestHash: Buffer; outcome: Promise<T>; isStored: boolean }

/** `find` returns an unexpired stored result. */
export function createOncePerKey<T>(
  find: (slot: Pick<KeySlot, 'holder' | 'key'>) => StoredEntry<T> | undefined | Promise<StoredEntry<T> | undefined>,
): OncePerKey<T> {
  const underWay = new Map<string, Promise<Claim<T>>>()

  const claimKey = async (slot: KeySlot, work: (slot: KeySlot) => Promise<T>): Promise<Claim<T>> => {
    const { holder, key, requestHash } = slot
    const stored = await find({ holder, key })
    if (!stored) return { requestHash, outcome: work(slot), isStored: false }
    return { requestHash: stored.requestHash, outcome: Promise.resolve(stored.answer), isStored: true }
  }
  return {
    async once(request, work) {
      const { holder, key } = request
      assertKey(key)
      const requestHash = hashRequest(request)
      const name = JSON.stringify([holder, key])

      const earlier = underWay.get(name)
      if (earlier) {
        const claim = await earlier
        assertSameRequest(claim, requestHash)
        return { answer: await claim.outcome, replayed: true }
      }
      // Set before anything is awaited, so that concurrent repetitions wait for this look-up and its work.
      const pending = claimKey({ holder, key, requestHash }, work)
      underWay.set(name, pending)
      try {
        const claim = await pending
        assertSameRequest(claim, requestHash)
        return { answer: await claim.outcome, replayed: claim.isStored }
      } finally {
        underWay.delete(name)
      }
    },
  }
}

/** @throws AppError `request/reused-key` */
function assertSameRequest(claim: { requestHash: Buffer }, requestHash: Buffer): void {
  if (claim.requestHash.equals(requestHash)) return
  throw new AppError('request/reused-key', 'This Idempotency-Key was used for another request.')
}

/** @throws AppError `request/invalid` */
export function assertKey(key: string): void {
  if (key.length > 0 && key.length <= maxKeyLength) return
  throw new AppError('request/invalid', `\`Idempotency-Key\` must have 1 to ${maxKeyLength} characters.`)
}

function hashRequest({ method, path, body }: RepeatableRequest): Buffer {
  const bodyHash = createHash('sha256').update(body).digest()
  return createHash('sha256').update(`${method}\n${path}\n`).update(bodyHash).digest()
}
