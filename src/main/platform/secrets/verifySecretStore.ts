import { randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import type { SecretStore } from './secretStore.ts'

/**
 * Verifies that a store works by writing, reading and removing an entry. A keychain that responds may have no keyring,
 * or a locked keyring that opens a dialog.
 * @returns an error `wallet/keychain-locked` or `wallet/keychain-unavailable`, or undefined on success
 */
export async function verifySecretStore(store: SecretStore): Promise<AppError | undefined> {
  const name = `trial-${randomBytes(8).toString('hex')}`
  const value = randomBytes(16).toString('hex')
  try {
    await store.write(name, value)
    const stored = await store.read(name)
    await store.remove(name)
    if (stored === value) return undefined
    return new AppError('wallet/keychain-unavailable', 'The keychain does not store secrets.')
  } catch (error) {
    if (error instanceof AppError) return error
    return new AppError('wallet/keychain-unavailable', String(error), { cause: error })
  }
}
