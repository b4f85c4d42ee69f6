import { randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import type { SecretStore } from './secretStore.ts'

/**
 * Whether this store keeps what it is given: writes something, reads it back and removes it. A keychain that only answers
 * may have no keyring to write to, or a locked one, for which its own dialog asks the person.
 * @returns why not, as `wallet/keychain-locked` or `wallet/keychain-unavailable`
 */
export async function tryKeychain(store: SecretStore): Promise<AppError | undefined> {
  const name = `trial-${randomBytes(8).toString('hex')}`
  const value = randomBytes(16).toString('hex')
  try {
    await store.write(name, value)
    const stored = await store.read(name)
    await store.remove(name)
    if (stored === value) return undefined
    return new AppError('wallet/keychain-unavailable', 'The keychain does not keep what is written to it.')
  } catch (error) {
    if (error instanceof AppError) return error
    return new AppError('wallet/keychain-unavailable', String(error), { cause: error })
  }
}
