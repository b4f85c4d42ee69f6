import { AppError } from '#shared/appError.ts'

const minCharacters = 10
const maxCharacters = 1024

/** Normalizes a passphrase to bytes that are the same on all keyboards. The caller must overwrite them. */
export function toPassphraseBytes(passphrase: string): Buffer {
  return Buffer.from(passphrase.normalize('NFKC'), 'utf8')
}

/** @throws AppError `wallet/passphrase-weak` */
export function requireStrong(text: string): void {
  const characters = [...text.normalize('NFKC')]
  if (characters.length < minCharacters)
    throw createWeakError(`Use at least ${minCharacters} characters, for example four random words.`)
  if (characters.length > maxCharacters) throw createWeakError(`Use at most ${maxCharacters} characters.`)
  if (new Set(characters).size < 3) throw createWeakError("Don't repeat one character.")
}

function createWeakError(message: string): AppError {
  return new AppError('wallet/passphrase-weak', message)
}

const freeAttempts = 5
const pauses = { firstMs: 5_000, maxMs: 60_000 } as const

/**
 * Creates a limit of passphrase attempts. After several wrong ones in a row, the delay before the next one increases. A
 * correct one resets it.
 */
export function createPassphraseAttempts(now: () => number) {
  let wrong = 0
  let notBeforeMs = 0
  return {
    /** @throws AppError `request/rate` */
    check(): void {
      const waitMs = notBeforeMs - now()
      if (waitMs <= 0) return
      const seconds = Math.ceil(Math.min(waitMs, pauses.maxMs) / 1000)
      throw new AppError('request/rate', `Too many wrong passphrases. Try again in ${seconds} seconds.`, {
        retryAfterSeconds: seconds,
      })
    },
    right(): void {
      wrong = 0
      notBeforeMs = 0
    },
    wrong(): void {
      wrong += 1
      if (wrong < freeAttempts) return
      notBeforeMs = now() + Math.min(pauses.firstMs * 2 ** (wrong - freeAttempts), pauses.maxMs)
    },
  }
}
