import { setTimeout as pause } from 'node:timers/promises'
import type { AsyncEntry } from 'keytar'
import { AppError } from '#shared/appError.ts'
import type { WalletBackend } from '#shared/contract/wallet.ts'
import { backendNames, type SecretStore } from './secretStore.ts'

type Options = {
  /** Separates the secrets of different data folders. */
  scopeName: string
  platform: NodeJS.Platform
  /** Timeout of a call, which includes time for the user to answer the keychain dialog. */
  deadlineMs?: number
}

type Call = { name: string; ms: number; changes?: true }

/**
 * Maximum number of timed-out calls still running. Each occupies one of the four threads of libuv's pool, which file
 * system and crypto calls need too.
 */
const maxAbandoned = 2
const service = 'Steward wallet'
const dialogTimeoutMs = 60_000
const probeMs = 5_000
/** Delay between retries of a keychain that does not respond. */
const keychainRetryDelayMs = 100
const timeoutMessage = 'The keychain did not respond in time. Its dialog may be waiting for you.'
const pendingDialogMessage = 'The keychain is still waiting for you to answer its dialog.'
const kinds: Partial<Record<NodeJS.Platform, WalletBackend['kind']>> = {
  darwin: 'macos_keychain',
  win32: 'windows_credential_manager',
}
/** The kernel keyring on Linux is lost at the next boot, so only the Secret Service is used. */
const entryOptions = { linux: { store: 'secret-service' } } as const

/** Creates a secret store that uses the system keychain. */
export function createKeychainSecretStore({ scopeName, platform, deadlineMs = dialogTimeoutMs }: Options): SecretStore {
  const kind = kinds[platform] ?? 'secret_service'
  let abandonedCount = 0
  /**
   * Writes that have timed out, by name, until they end, because the keychain may still make them. Later calls for the
   * same name wait, so that a late write cannot overwrite a newer value or change a value after it was read.
   */
  const unclear = new Map<string, Promise<void>>()

  const waitForTurn = async (name: string, ms: number): Promise<void> => {
    const late = unclear.get(name)
    if (!late) return
    await raceTimeout(ms, late, () => createLockedError(pendingDialogMessage))
  }
  const giveUp = ({ name, changes }: Call, running: Promise<unknown>): AppError => {
    abandonedCount += 1
    const ended: Promise<void> = Promise.allSettled([running]).then(() => {
      abandonedCount -= 1
      if (unclear.get(name) === ended) unclear.delete(name)
    })
    if (!changes) return createLockedError(timeoutMessage)
    unclear.set(name, ended)
    return createLockedError(
      'The keychain did not respond in time and may still make this change. Its dialog may be waiting for you.',
    )
  }

  const withEntry = async <T>(call: Call, use: (entry: AsyncEntry) => Promise<T>): Promise<T> => {
    const { name, ms } = call
    if (abandonedCount >= maxAbandoned) throw createLockedError(pendingDialogMessage)
    await waitForTurn(name, ms)
    let isOver = false
    try {
      const keychain = await import('keytar')
      const entry = new keychain.AsyncEntry(service, `${scopeName}/${name}`, entryOptions) // a session, which does not survive a restart of the keychain
      const running = retryWhileUnresponsive(
        () => use(entry),
        () => isOver,
      )
      return await raceTimeout(ms, running, () => {
        isOver = true
        return giveUp(call, running)
      })
    } catch (error) {
      throw error instanceof AppError ? error : keychainError(error)
    }
  }

  return {
    kind,
    detail: 'Your system keychain stores the encrypted secrets.',
    async fault() {
      try {
        await withEntry({ name: 'probe', ms: probeMs }, (entry) => entry.getPassword())
        return undefined
      } catch (error) {
        return error instanceof AppError ? error.message : String(error)
      }
    },
    read: async (name) => (await withEntry({ name, ms: deadlineMs }, (entry) => entry.getPassword())) ?? undefined,
    write: (name, value) => withEntry({ name, ms: deadlineMs, changes: true }, (entry) => entry.setPassword(value)),
    async remove(name) {
      await withEntry({ name, ms: deadlineMs, changes: true }, (entry) => entry.deletePassword())
    },
  }

  function keychainError(error: unknown): AppError {
    const said = toText(error)
    if (isLocked(said)) return createLockedError('Your system keychain is locked.', error)
    if (isUnresponsive(said)) return createLockedError(timeoutMessage, error)
    return new AppError('wallet/keychain-unavailable', formatUnavailable(kind, said), { cause: error })
  }
}

/**
 * libdbus times out after two seconds, which may be too short on a busy computer. Retrying is safe: the Secret Service
 * processes requests in order, and all calls are idempotent.
 */
async function retryWhileUnresponsive<T>(ask: () => Promise<T>, isOver: () => boolean): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (isOver() || !isUnresponsive(toText(error))) throw error
    }
    await pause(keychainRetryDelayMs)
  }
}

/** @param toTimeoutError creates the error of a timeout; the call continues to run */
async function raceTimeout<T>(ms: number, running: Promise<T>, toTimeoutError: () => AppError): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(toTimeoutError()), ms)
    })
    return await Promise.race([running, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Matches error messages, because the keychain adapters have no error codes: those of the Secret Service on Linux and
 * of the Security framework on macOS.
 */
function isLocked(said: string): boolean {
  return /object locked|prompt was dismissed|interaction is not allowed|user cancell?ed|passphrase you entered is not correct/i.test(
    said,
  )
}

/** Whether the keychain exists but does not respond, unlike a missing one. */
function isUnresponsive(said: string): boolean {
  return /did not receive a reply/i.test(said)
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function formatUnavailable(kind: WalletBackend['kind'], said: string): string {
  if (kind !== 'secret_service') return `The ${backendNames[kind]} does not respond (${said}).`
  if (/no result found/i.test(said)) return 'The Secret Service of this session has no keyring for secrets.'
  if (/dbus|d-bus/i.test(said)) return 'No Secret Service is available: this session has no D-Bus.'
  return `No Secret Service is available, such as GNOME Keyring or KWallet (${said}).`
}

function createLockedError(message: string, cause?: unknown): AppError {
  return new AppError('wallet/keychain-locked', message, { cause })
}
