import { AppError } from '#shared/appError.ts'
import { automatonLimits } from '#shared/contract/automatons.ts'
import type { Query, Store, Transaction } from '#storage/store.ts'
import { automatonRepository } from './automatonRepository.ts'

export type AutomatonNonces = {
  /** Creates a nonce that is valid only for registrations by this creator and, if set, of this automaton. */
  bind(binding: {
    creatorKey: string
    automatonId: string | undefined
  }): Promise<{ nonce: string; expiresAtMs: number }>
  /**
   * @returns whether the nonce was bound, which proves that the creator took part
   * @throws AppError `identity/nonce-bound`
   */
  checkBinding(query: Query, nonce: string, binding: { creatorKey: string; automatonId: string }): Promise<boolean>
  /** Marks a nonce as used. @throws AppError `identity/nonce-used` */
  spend(tx: Transaction, nonce: string): Promise<void>
}

/** Open nonces per creator. Above this, those that expire first are removed. */
const maxOpen = 100

/** Clients do not choose nonces with this pattern, so an unknown one has expired. */
const boundNonce = /^bound_[0-9a-f]{32}$/

export function createAutomatonNonces(options: {
  store: Pick<Store, 'write'>
  now: () => number
  randomBytes: (count: number) => Buffer
}): AutomatonNonces {
  const { store, now, randomBytes } = options
  return {
    async bind({ creatorKey, automatonId = null }) {
      const nonce = `bound_${randomBytes(16).toString('hex')}`
      const nowMs = now()
      const expiresAtMs = nowMs + automatonLimits.boundNonceMs
      await store.write(async (tx) => {
        await automatonRepository.removeExpiredNonces(tx, nowMs)
        await automatonRepository.trimNonces(tx, creatorKey, maxOpen - 1)
        await automatonRepository.addNonce(tx, { nonce, creatorKey, automatonId, usedAtMs: null, expiresAtMs })
      })
      return { nonce, expiresAtMs }
    },
    async checkBinding(query, nonce, { creatorKey, automatonId }) {
      const stored = await automatonRepository.findNonce(query, nonce)
      if (!stored || stored.creatorKey === null) return false
      if (stored.creatorKey !== creatorKey) {
        throw new AppError('identity/nonce-bound', 'The nonce is bound to another creator.')
      }
      if (stored.automatonId !== null && stored.automatonId !== automatonId) {
        throw new AppError('identity/nonce-bound', 'The nonce is bound to another automaton.')
      }
      return true
    },
    async spend(tx, nonce) {
      const nowMs = now()
      const stored = await automatonRepository.findNonce(tx, nonce)
      if (stored && stored.usedAtMs !== null) throw new AppError('identity/nonce-used', 'The nonce was already used.')
      const isOver = stored ? stored.expiresAtMs !== null && stored.expiresAtMs <= nowMs : boundNonce.test(nonce)
      if (isOver) throw new AppError('identity/nonce-used', 'The nonce has expired.')
      if (stored) await automatonRepository.markUsed(tx, nonce, nowMs)
      else {
        await automatonRepository.addNonce(tx, {
          ...{ nonce, creatorKey: null, automatonId: null, usedAtMs: nowMs, expiresAtMs: null },
        })
      }
    },
  }
}
