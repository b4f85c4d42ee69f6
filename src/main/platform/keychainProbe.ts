import { AsyncEntry } from 'keytar'

/** On Linux the kernel's own keyring forgets at the next boot: only the Secret Service counts as a keychain. */
const secretService = { linux: { store: 'secret-service' } } as const

/**
 * Whether this system keeps secrets for us, found by reading one that was never written.
 * @returns undefined when it does, else why not
 */
export async function keychainFault(deadlineMs = 5_000): Promise<string | undefined> {
  const late = AbortSignal.timeout(deadlineMs)
  const inTime = new Promise<never>((_, reject) => {
    late.addEventListener('abort', () => reject(new Error('it does not answer')), { once: true })
  })
  try {
    await Promise.race([new AsyncEntry('steward', 'probe', secretService).getPassword(late), inTime])
    return undefined
  } catch (failure) {
    return failure instanceof Error ? failure.message : String(failure)
  }
}
