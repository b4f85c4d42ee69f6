import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { ServiceConnection } from '#shared/contract/localApi.ts'
import type { Parsed } from '#shared/contract/route.ts'
import {
  type Keyring,
  openSecurePrompt,
  securePromptHostName,
  securePromptPath,
  type Wallet,
} from '#shared/contract/wallet.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { PolicyConfirmation } from '../approvals/policyConfirmation.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { WalletUnlinking } from '../connections/walletUnlinking.ts'
import { createSecurePromptPages, type SecurePromptPages } from './securePromptPages.ts'
import { createSecurePromptSessions } from './securePromptSessions.ts'
import type { SecurePromptContext, SecurePromptFlow } from './securePromptStep.ts'
import { changePassphrasePrompt } from './steps/changePassphrasePrompt.ts'
import { createConfirmPolicyPrompt } from './steps/confirmPolicyPrompt.ts'
import { createConfirmPrompt } from './steps/confirmPrompt.ts'
import { createWalletPrompt } from './steps/createWalletPrompt.ts'
import { createExportPrompt } from './steps/exportPrompt.ts'
import { createImportPrompt } from './steps/importPrompt.ts'
import {
  createProviderKeyPrompt,
  createServerKeyPrompt,
  createToolServerPrompt,
  type KeyPromptProviders,
} from './steps/keyPrompts.ts'
import { createRemovePrompt } from './steps/removePrompt.ts'
import { createRevealPrompt } from './steps/revealPrompt.ts'
import { createUnlockPrompt } from './steps/unlockPrompt.ts'

/** Pages on which the user enters and views wallet secrets, and enters keys of model providers. */
export type SecurePrompts = { endpoints: readonly LocalEndpoint[]; pages: SecurePromptPages; close(): void }

type Options = SecurePromptContext & {
  approvals: Pick<Approvals, 'get' | 'decide'>
  policy: Pick<PolicyConfirmation, 'pending'>
  /** Sign-ins of the wallet at services, for removals. */
  unlinking: Pick<WalletUnlinking, 'findLinked'>
  service: () => Pick<ServiceConnection, 'name' | 'kind' | 'state'>
  providers: KeyPromptProviders
  /** Folder of the built interface, with the fonts. */
  pagesFolder: string
  now: () => number
  log: Log
}

type OpenRequest = Parsed<typeof openSecurePrompt>['body']

export function createSecurePrompts(options: Options): SecurePrompts {
  const { approvals, policy, unlinking, service, providers, pagesFolder, now, log, ...tools } = options
  const { vault } = tools
  const onUnexpected = (error: unknown) => log.error('secure prompt failed', { error })
  const sessions = createSecurePromptSessions({ now, onUnexpected })
  const unsubscribe = vault.onLocked(sessions.onLocked)

  /** Whether the wallet is absent, or has nothing that a passphrase could unlock. @throws AppError `wallet/damaged` */
  const isFirst = async ({ state }: Wallet): Promise<boolean> =>
    state === 'absent' || (state === 'damaged' && !(await vault.canOpen()))

  /** @throws AppError if the subject of the prompt does not exist */
  const createPrompt = async (request: OpenRequest): Promise<{ flow: SecurePromptFlow; endsWithLock: boolean }> => {
    if (request.purpose === 'provider_key') {
      return {
        flow: await createProviderKeyPrompt(providers, requireId(request.family, 'family')),
        endsWithLock: false,
      }
    }
    if (request.purpose === 'server_key') {
      return {
        flow: await createServerKeyPrompt(providers, requireId(request.server_id, 'server_id')),
        endsWithLock: false,
      }
    }
    if (request.purpose === 'tool_server_secret') {
      const id = requireId(request.tool_server_id, 'tool_server_id')
      const flow = await createToolServerPrompt(providers, id, requireId(request.secret_name, 'secret_name'))
      return { flow, endsWithLock: false }
    }
    const wallet = await vault.status()
    if (request.purpose === 'unlock') return { flow: unlockFlow(wallet), endsWithLock: false }
    if (request.purpose !== 'create' && request.purpose !== 'import') {
      return { flow: createFlow(request, wallet), endsWithLock: true }
    }
    // Adding to an existing wallet requires its passphrase and unlocks it at the end. Creating a wallet does not
    // involve a lock.
    const first = await isFirst(wallet)
    const flow = request.purpose === 'create' ? createWalletPrompt(tools, first) : createImportPrompt(tools, first)
    return { flow, endsWithLock: !first }
  }

  const createFlow = (request: OpenRequest, wallet: Wallet): SecurePromptFlow => {
    if (request.purpose === 'confirm') {
      return createConfirmPrompt({ vault, approvals, intent: approvals.get(requireId(request.intent_id, 'intent_id')) })
    }
    if (request.purpose === 'confirm_policy') {
      const change = policy.pending()
      if (!change) throw new AppError('request/invalid', 'No policy change is waiting for confirmation.')
      return createConfirmPolicyPrompt({ vault, change })
    }
    requireWallet(wallet)
    if (request.purpose === 'change_passphrase') return changePassphrasePrompt(tools)
    if (request.purpose === 'export')
      return createExportPrompt(tools, requireAccount(wallet, requireId(request.account_id, 'account_id')))
    const keyring = requireKeyring(wallet, requireId(request.keyring_id, 'keyring_id'))
    if (request.purpose === 'remove') {
      const linked = unlinking.findLinked(keyring.accounts.map(({ address }) => address))
      return createRemovePrompt(vault, keyring, { ...linked, service: service() })
    }
    if (keyring.kind !== 'phrase') {
      throw new AppError('request/invalid', `keyring_id: “${keyring.label}” is a private key and has no words.`)
    }
    return createRevealPrompt(vault, keyring)
  }

  const unlockFlow = (wallet: Wallet): SecurePromptFlow => {
    requireWallet(wallet)
    return createUnlockPrompt(vault)
  }

  return {
    endpoints: [
      createLocalEndpoint(openSecurePrompt, async ({ body }, { origin }) => {
        const context = { window: toWindowOrigin(origin), theme: body.theme }
        const { ticket, expiresAtMs } = sessions.issue({ ...(await createPrompt(body)), context })
        const { port } = new URL(origin)
        const url = `http://${securePromptHostName}${port === '' ? '' : `:${port}`}${securePromptPath}/${ticket}`
        return { url, expires_at: toIsoTime(expiresAtMs) }
      }),
    ],
    pages: createSecurePromptPages({ sessions, pagesFolder }),
    close() {
      unsubscribe()
      sessions.close()
    },
  }
}

/**
 * Rejects IPv6 origins: a Content-Security-Policy cannot contain an IPv6 address, so framing could not be limited to
 * this window.
 */
function toWindowOrigin(origin: string): string {
  if (!origin.includes('[')) return origin
  const { port } = new URL(origin)
  throw new AppError('request/invalid', `Open Steward as http://localhost:${port} to use the wallet.`)
}

function requireWallet({ state }: Wallet): void {
  if (state === 'absent') throw new AppError('wallet/absent', 'There is no wallet yet.')
}

function requireId<T>(id: T | undefined, field: string): T {
  if (id === undefined) throw new AppError('request/invalid', `${field} is required for this purpose.`)
  return id
}

function requireKeyring({ keyrings }: Wallet, id: string): Keyring {
  const keyring = keyrings.find((it) => it.id === id)
  if (!keyring) throw new AppError('wallet/keyring-not-found', `There is no phrase or key ${id}.`)
  return keyring
}

function requireAccount({ keyrings }: Wallet, id: string) {
  const account = keyrings.flatMap(({ accounts }) => accounts).find((it) => it.id === id)
  if (!account) throw new AppError('wallet/account-not-found', `There is no account ${id}.`)
  if (account.chain_type === 'evm') return account
  throw new AppError('request/invalid', 'account_id: only EVM accounts have a Keystore V3 form.')
}
