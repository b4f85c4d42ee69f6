import type { Log } from '#platform/log.ts'
import { AppError } from '#shared/appError.ts'
import type { ServiceConnection } from '#shared/contract/localApi.ts'
import type { Parsed } from '#shared/contract/route.ts'
import { type Keyring, openWalletSheet, sheetHostName, sheetPath, type Wallet } from '#shared/contract/wallet.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { ConfirmedPolicy } from '../approvals/confirmedPolicy.ts'
import { type LocalEndpoint, localEndpoint } from '../base/localEndpoint.ts'
import type { WalletUnlinking } from '../connections/walletUnlinking.ts'
import { createSheetPages, type SheetPages } from './sheetPages.ts'
import { createSheetSessions } from './sheetSessions.ts'
import type { SheetFlow, SheetTools } from './sheetStep.ts'
import { changePassphraseSheet } from './steps/changePassphraseSheet.ts'
import { confirmPolicySheet } from './steps/confirmPolicySheet.ts'
import { confirmSheet } from './steps/confirmSheet.ts'
import { exportSheet } from './steps/exportSheet.ts'
import { importSheet } from './steps/importSheet.ts'
import { type KeySheetProviders, providerKeySheet, serverKeySheet, toolServerSheet } from './steps/keySheets.ts'
import { removeSheet } from './steps/removeSheet.ts'
import { revealSheet } from './steps/revealSheet.ts'
import { createSheet } from './steps/sheet.ts'
import { unlockSheet } from './steps/unlockSheet.ts'

/** The pages on which a person gives and sees the secrets of the wallet, and gives keys of model providers. */
export type WalletSheets = { endpoints: readonly LocalEndpoint[]; pages: SheetPages; close(): void }

type Options = SheetTools & {
  approvals: Pick<Approvals, 'get' | 'decide'>
  policy: Pick<ConfirmedPolicy, 'wish'>
  /** Sign-ins of the wallet at services, for a removal. */
  unlinking: Pick<WalletUnlinking, 'findLinked'>
  service: () => Pick<ServiceConnection, 'name' | 'kind' | 'state'>
  providers: KeySheetProviders
  /** The built interface, which has the font. */
  pagesFolder: string
  now: () => number
  log: Log
}

type OpenRequest = Parsed<typeof openWalletSheet>['body']

export function createWalletSheets(options: Options): WalletSheets {
  const { approvals, policy, unlinking, service, providers, pagesFolder, now, log, ...tools } = options
  const { vault } = tools
  const onUnexpected = (error: unknown) => log.error('a sheet failed', { error })
  const sessions = createSheetSessions({ now, onUnexpected })
  const unsubscribe = vault.onLocked(sessions.onLocked)

  /** There is no wallet, or nothing is left that a passphrase could open. @throws AppError `wallet/damaged` */
  const isFirst = async ({ state }: Wallet): Promise<boolean> =>
    state === 'absent' || (state === 'damaged' && !(await vault.canOpen()))

  /** @throws AppError when there is nothing that the sheet could be about. */
  const sheetOf = async (request: OpenRequest): Promise<{ flow: SheetFlow; endsWithLock: boolean }> => {
    if (request.purpose === 'provider_key') {
      return { flow: await providerKeySheet(providers, requireId(request.family, 'family')), endsWithLock: false }
    }
    if (request.purpose === 'server_key') {
      return { flow: await serverKeySheet(providers, requireId(request.server_id, 'server_id')), endsWithLock: false }
    }
    if (request.purpose === 'tool_server_secret') {
      const id = requireId(request.tool_server_id, 'tool_server_id')
      const flow = await toolServerSheet(providers, id, requireId(request.secret_name, 'secret_name'))
      return { flow, endsWithLock: false }
    }
    const wallet = await vault.status()
    if (request.purpose === 'unlock') return { flow: unlockFlow(wallet), endsWithLock: false }
    if (request.purpose !== 'create' && request.purpose !== 'import') {
      return { flow: createFlow(request, wallet), endsWithLock: true }
    }
    // Adding to a wallet requires its passphrase and unlocks it at the end; creating one needs no lock.
    const first = await isFirst(wallet)
    const flow = request.purpose === 'create' ? createSheet(tools, first) : importSheet(tools, first)
    return { flow, endsWithLock: !first }
  }

  const createFlow = (request: OpenRequest, wallet: Wallet): SheetFlow => {
    if (request.purpose === 'confirm') {
      return confirmSheet({ vault, approvals, intent: approvals.get(requireId(request.intent_id, 'intent_id')) })
    }
    if (request.purpose === 'confirm_policy') {
      const wish = policy.wish()
      if (!wish) throw new AppError('request/invalid', 'No change of the policy waits to be confirmed.')
      return confirmPolicySheet({ vault, wish })
    }
    requireWallet(wallet)
    if (request.purpose === 'change_passphrase') return changePassphraseSheet(tools)
    if (request.purpose === 'export')
      return exportSheet(tools, requireAccount(wallet, requireId(request.account_id, 'account_id')))
    const keyring = requireKeyring(wallet, requireId(request.keyring_id, 'keyring_id'))
    if (request.purpose === 'remove') {
      const linked = unlinking.findLinked(keyring.accounts.map(({ address }) => address))
      return removeSheet(vault, keyring, { ...linked, service: service() })
    }
    if (keyring.kind !== 'phrase') {
      throw new AppError('request/invalid', `keyring_id: “${keyring.label}” is a private key and has no words.`)
    }
    return revealSheet(vault, keyring)
  }

  const unlockFlow = (wallet: Wallet): SheetFlow => {
    requireWallet(wallet)
    return unlockSheet(vault)
  }

  return {
    endpoints: [
      localEndpoint(openWalletSheet, async ({ body }, { origin }) => {
        const context = { window: toWindowOrigin(origin), theme: body.theme }
        const { ticket, expiresAtMs } = sessions.issue({ ...(await sheetOf(body)), context })
        const { port } = new URL(origin)
        const url = `http://${sheetHostName}${port === '' ? '' : `:${port}`}${sheetPath}/${ticket}`
        return { url, expires_at: toIsoTime(expiresAtMs) }
      }),
    ],
    pages: createSheetPages({ sessions, pagesFolder }),
    close() {
      unsubscribe()
      sessions.close()
    },
  }
}

/** A Content-Security-Policy cannot name an IPv6 address, so no page could say that this window alone may show it. */
function toWindowOrigin(origin: string): string {
  if (!origin.includes('[')) return origin
  const { port } = new URL(origin)
  throw new AppError('request/invalid', `Open Steward as http://localhost:${port} to use the wallet.`)
}

function requireWallet({ state }: Wallet): void {
  if (state === 'absent') throw new AppError('wallet/absent', 'There is no wallet yet.')
}

function requireId<T>(id: T | undefined, field: string): T {
  if (id === undefined) throw new AppError('request/invalid', `${field} must be given for this purpose.`)
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
