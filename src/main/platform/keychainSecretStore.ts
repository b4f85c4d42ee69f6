import type { AsyncEntry } from 'keytar'
import { AppError } from '../../shared/appError.ts'
import type { WalletBackend } from '../../shared/contract/wallet.ts'
import { backendNames, type SecretStore } from './secretStore.ts'

type Options = {
  /** Parts the secrets of one data folder from those of others. */
  scopeName: string
  platform: NodeJS.Platform
  /** Long enough for a person to answer the dialog of the keychain. */
  deadlineMs?: number
}

/** A call that waits for the dialog of the keychain holds one of the four threads that files and keys need too. */
const maxGivenUp = 2
const service = 'Steward wallet'
const dialogMs = 60_000
const probeMs = 5_000
const kinds: Partial<Record<NodeJS.Platform, WalletBackend['kind']>> = {
  darwin: 'macos_keychain',
  win32: 'windows_credential_manager',
}
/** On Linux the kernel's own keyring forgets at the next boot: only the Secret Service counts as a keychain. */
const entryOptions = { linux: { store: 'secret-service' } } as const

/** The keychain of the system. */
export function keychainSecretStore({ scopeName, platform, deadlineMs = dialogMs }: Options): SecretStore {
  const kind = kinds[platform] ?? 'secret_service'
  let givenUp = 0

  const withEntry = async <T>(name: string, ms: number, use: (entry: AsyncEntry) => Promise<T>): Promise<T> => {
    if (givenUp >= maxGivenUp) throw locked('The keychain still waits for an answer to its own dialog.')
    const keychain = await import('keytar')
    let timer: NodeJS.Timeout | undefined
    try {
      const running = use(new keychain.AsyncEntry(service, `${scopeName}/${name}`, entryOptions))
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          givenUp += 1
          const over = (): void => {
            givenUp -= 1
          }
          running.then(over, over)
          reject(locked('The keychain did not answer in time: its own dialog may wait for you.'))
        }, ms)
      })
      return await Promise.race([running, late])
    } catch (failure) {
      throw failure instanceof AppError ? failure : keychainError(failure)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    kind,
    detail: 'The keychain of your system keeps the sealed secrets.',
    async fault() {
      try {
        await withEntry('probe', probeMs, (entry) => entry.getPassword())
        return undefined
      } catch (failure) {
        return failure instanceof AppError ? failure.message : String(failure)
      }
    },
    read: async (name) => (await withEntry(name, deadlineMs, (entry) => entry.getPassword())) ?? undefined,
    write: (name, value) => withEntry(name, deadlineMs, (entry) => entry.setPassword(value)),
    async remove(name) {
      await withEntry(name, deadlineMs, (entry) => entry.deletePassword())
    },
  }

  function keychainError(failure: unknown): AppError {
    const said = failure instanceof Error ? failure.message : String(failure)
    if (isLocked(said)) return locked('The keychain of your system is locked.', failure)
    return new AppError('wallet/keychain-unavailable', unavailableText(kind, said), { cause: failure })
  }
}

/**
 * The adapters of the keychains tell these apart in words only: on Linux the errors of the Secret Service, on macOS
 * those of the Security framework.
 */
function isLocked(said: string): boolean {
  return /object locked|prompt was dismissed|interaction is not allowed|user cancell?ed|passphrase you entered is not correct/i.test(
    said,
  )
}

function unavailableText(kind: WalletBackend['kind'], said: string): string {
  if (kind !== 'secret_service') return `The ${backendNames[kind]} does not answer (${said}).`
  if (/no result found/i.test(said)) return 'The Secret Service of this session has no keyring to keep secrets in.'
  if (/dbus|d-bus/i.test(said)) return 'No Secret Service answers: there is no D-Bus session.'
  return `No Secret Service answers, such as GNOME Keyring or KWallet (${said}).`
}

function locked(message: string, cause?: unknown): AppError {
  return new AppError('wallet/keychain-locked', message, { cause })
}
