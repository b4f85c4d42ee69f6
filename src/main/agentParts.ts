import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { connectionNotes } from './agent/activity/connectionNotes.ts'
import type { Note } from './agent/activity/note.ts'
import { serviceFollower } from './agent/activity/serviceFollower.ts'
import { timeline } from './agent/activity/timeline.ts'
import { timelineRoutes } from './agent/activity/timelineRoutes.ts'
import { localClients } from './agent/api/localClients.ts'
import type { LocalEvents } from './agent/api/localEvents.ts'
import type { LocalRoutesOptions } from './agent/api/localRoutes.ts'
import type { ApprovalDialog } from './agent/approvals/approvalDialog.ts'
import { approvalRoutes } from './agent/approvals/approvalRoutes.ts'
import type { Approvals } from './agent/approvals/approvals.ts'
import { confirmedPolicy } from './agent/approvals/confirmedPolicy.ts'
import { openApprovals } from './agent/approvals/openApprovals.ts'
import { pacedAsks } from './agent/approvals/pacedAsks.ts'
import { repeatedAsks } from './agent/approvals/repeatedAsks.ts'
import { repeatRepository } from './agent/approvals/repeatRepository.ts'
import { waitingNotices } from './agent/approvals/waitingNotices.ts'
import { type HostedPlace, hostedService } from './agent/connections/hostedService.ts'
import { linkedWallets } from './agent/connections/linkedWallets.ts'
import { type ServiceClient, serviceClient } from './agent/connections/serviceClient.ts'
import type { ServiceLink } from './agent/connections/serviceLink.ts'
import { walletMessages } from './agent/connections/walletMessages.ts'
import { registrationRepository } from './agent/identity/registrationRepository.ts'
import { registrationRoutes } from './agent/identity/registrationRoutes.ts'
import { registrations } from './agent/identity/registrations.ts'
import type { LocalEndpoint } from './agent/localEndpoint.ts'
import type { SheetPages } from './agent/sheets/sheetPages.ts'
import { walletSheets } from './agent/sheets/walletSheets.ts'
import { intentSigner } from './agent/signer/intentSigner.ts'
import { balanceRepository } from './agent/wallet/balanceRepository.ts'
import { balanceRoutes } from './agent/wallet/balanceRoutes.ts'
import { balances } from './agent/wallet/balances.ts'
import { openWallet } from './agent/wallet/openWallet.ts'
import { requireStrong } from './agent/wallet/passphrases.ts'
import { walletRepository } from './agent/wallet/walletRepository.ts'
import { walletRoutes } from './agent/wallet/walletRoutes.ts'
import type { WalletVault } from './agent/wallet/walletVault.ts'
import type { Config } from './config/config.ts'
import type { Log } from './platform/log.ts'
import { builtFile } from './platform/programFile.ts'
import type { Scope } from './platform/scope.ts'
import { version } from './platform/version.ts'
import { secretPlaces } from './secretPlaces.ts'
import { migrate } from './storage/migrate.ts'
import { agentMigrations } from './storage/migrations/agent/agentMigrations.ts'
import { type Database, openDatabase } from './storage/openDatabase.ts'

/** What the slices of the agent are made of. Each takes of it what it needs. */
export type AgentGround = {
  dataFolder: string
  config: Config
  link: ServiceLink
  /** A service elsewhere, to which the wallet signs in; undefined where the application runs its own. */
  hosted: HostedPlace | undefined
  events: LocalEvents
  /** Of the system, where the window is one of its own; a browser has none. */
  dialog: ApprovalDialog | undefined
  /** Owns what a slice opens. */
  scope: Scope
  log: Log
  now: () => number
}

export type AgentParts = {
  database: Database
  client: ServiceClient
  note: Note
  wallet: WalletVault
  /** Where a person gives and sees secrets. */
  sheets: SheetPages
  approvals: Approvals
  clientOf: LocalRoutesOptions['clientOf']
  /** What the local API answers beside its own paths. */
  endpoints: readonly LocalEndpoint[]
}

const steward = { kind: 'system', name: 'Steward' } as const

/**
 * Makes the slices of the agent, in the order in which they need each other: activity, wallet, signer, approvals,
 * sign-in, identity. A slice knows the others by their types alone; here they meet.
 */
export function agentParts({
  dataFolder,
  config,
  link,
  hosted,
  events,
  dialog,
  log,
  now,
  scope,
}: AgentGround): AgentParts {
  const database = scope.own(openDatabase(join(dataFolder, 'agent.sqlite')), (it) => it.close())
  migrate(database, agentMigrations)
  const client = scope.own(serviceClient(link.target), (it) => it.close())
  const activity = timeline({
    database,
    headPath: join(dataFolder, 'activity.head'),
    now,
    onAppended: (sequence) => events.publish({ type: 'timeline.appended', sequence }),
    log: log.of('activity'),
  })
  scope.own(activity, (it) => {
    it.note({ kind: 'system.stopped', actor: steward, summary: 'Steward stopped.' })
    return it.close()
  })
  const { note } = activity
  note({ kind: 'system.started', actor: steward, summary: `Steward ${version} started.`, detail: { version } })
  scope.own(connectionNotes({ link, note }), (it) => it.close())
  scope.own(serviceFollower({ link, client, timeline: activity, log: log.of('activity') }), (it) => it.close())
  const wallet = scope.own(
    openWallet({
      repository: walletRepository(database),
      places: secretPlaces({ dataFolder, config }),
      events,
      note,
      now,
    }),
    (it) => it.close(),
  )
  const { base, base_sepolia } = config.wallet.rpc
  const funds = scope.own(
    balances({
      keys: wallet,
      repository: balanceRepository(database),
      rpcUrls: { base, 'base-sepolia': base_sepolia },
      now,
    }),
    (it) => it.close(),
  )
  const { target } = link
  /** Known before anybody is signed in there. */
  const servicePlace = hosted && { url: hosted.url, key: '', certificate: undefined, authority: hosted.authority }
  const serviceTarget = () => link.target() ?? servicePlace
  const signer = intentSigner({ keys: wallet, domainName: config.identity.domain_name, now, randomBytes })
  const approvals = scope.own(
    openApprovals({ database, signer, wallet, events, target: serviceTarget, note, now, log: log.of('approvals') }),
    (it) => it.close(),
  )
  const policy = confirmedPolicy({ approvals, dialog })
  const asks = pacedAsks(approvals, now)
  const repeats = repeatedAsks({ repeats: repeatRepository(database), now })
  const visitor = scope.own(serviceClient(serviceTarget), (it) => it.close())
  const messages = walletMessages({ client: visitor, target: serviceTarget, approvals })
  if (hosted) {
    scope.own(
      hostedService({
        place: hosted,
        link,
        events,
        client: visitor,
        wallet,
        messages,
        now,
        log: log.of('sign-in'),
      }),
      (it) => it.close(),
    )
  }
  scope.own(linkedWallets({ link, events, client, wallet, messages, note, log: log.of('sign-in') }), (it) => it.close())
  if (dialog) scope.own(waitingNotices({ dialog, events }), (end) => end())
  const sheets = scope.own(
    walletSheets({
      vault: wallet,
      requireStrong,
      approvals,
      policy,
      pagesFolder: builtFile('renderer'),
      now,
      log: log.of('sheets'),
    }),
    (it) => it.close(),
  )
  const identities = scope.own(
    registrations({
      records: registrationRepository(database),
      approvals: { ...approvals, ask: asks.ask },
      signer,
      keys: wallet,
      client,
      events,
      note,
      newUuid: randomUUID,
      newId: () => randomBytes(12).toString('hex'),
      now,
      log: log.of('identity'),
    }),
    (it) => it.close(),
  )
  const clients = localClients({ client, target, now })
  const forgetClients = link.subscribe((event) => {
    if (event.type === 'activity.noted') clients.forget()
  })
  scope.own(forgetClients, (leave) => leave())
  return {
    database,
    client,
    note,
    wallet,
    approvals,
    sheets: sheets.pages,
    clientOf: clients.clientOf,
    endpoints: [
      ...timelineRoutes(activity),
      ...walletRoutes(wallet),
      ...balanceRoutes(funds),
      ...sheets.endpoints,
      ...approvalRoutes({ approvals, asks, repeats, dialog, policy }),
      ...registrationRoutes(identities, repeats),
    ],
  }
}
