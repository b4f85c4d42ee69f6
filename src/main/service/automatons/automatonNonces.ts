import { AppError } from '#shared/appError.ts'
import { automatonLimits } from '#shared/contract/automatons.ts'
import type { AutomatonRepository } from './automatonRepository.ts'

export type AutomatonNonces = {
  /** Creates a nonce that is valid only for registrations by this creator and, if set, of this automaton. */
  bind(binding: { creatorKey: string; automatonId: string | undefined }): { nonce: string; expiresAtMs: number }
  /**
   * @returns whether the nonce was bound, which proves that the creator took part
   * @throws AppError `identity/nonce-bound`
   */
  checkBinding(nonce: string, binding: { creatorKey: string; automatonId: string }): boolean
  /** Marks a nonce as used. Call it within a transaction. @throws AppError `identity/nonce-used` */
  spend(nonce: string): void
}

/** Open nonces per creator. Above this, those that expire first are removed. */
const maxOpen = 100

/** Clients do not choose nonces with this pattern, so an unknown one has expired. */
const boundNonce = /^bound_[0-9a-f]{32}$/

export function createAutomatonNonces(options: {
  records: Pick<AutomatonRepository, 'findNonce' | 'addNonce' | 'trimNonces' | 'markUsed' | 'removeExpiredNonces'>
  now: () => number
  randomBytes: (count: number) => Buffer
}): AutomatonNonces {
  const { records, now, randomBytes } = options
  return {
    bind({ creatorKey, automatonId = null }) {
      const nonce = `bound_${randomBytes(16).toString('hex')}`
      const expiresAtMs = now() + automatonLimits.boundNonceMs
      records.removeExpiredNonces(now())
      records.addNonce({ nonce, creatorKey, automatonId, usedAtMs: null, expiresAtMs })
      records.trimNonces(creatorKey, maxOpen)
      return { nonce, expiresAtMs }
    },
    checkBinding(nonce, { creatorKey, automatonId }) {
      const stored = records.findNonce(nonce)
      if (!stored || stored.creatorKey === null) return false
      if (stored.creatorKey !== creatorKey) {
        throw new AppError('identity/nonce-bound', 'The nonce is bound to another creator.')
      }
      if (stored.automatonId !== null && stored.automatonId !== automatonId) {
        throw new AppError('identity/nonce-bound', 'The nonce is bound to another automaton.')
      }
      return true
    },
    spend(nonce) {
      const stored = records.findNonce(nonce)
      if (stored && stored.usedAtMs !== null) throw new AppError('identity/nonce-used', 'The nonce was already used.')
      const isOver = stored ? stored.expiresAtMs !== null && stored.expiresAtMs <= now() : boundNonce.test(nonce)
      if (isOver) throw new AppError('identity/nonce-used', 'The nonce has expired.')
      if (stored) records.markUsed(nonce, now())
      else records.addNonce({ nonce, creatorKey: null, automatonId: null, usedAtMs: now(), expiresAtMs: null })
    },
  }
}
