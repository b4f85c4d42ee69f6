import { join } from 'node:path'
import type { Config } from '#config/config.ts'
import type { Chain } from '#platform/chain/chain.ts'
import { createChainThread } from '#platform/chain/chainThread.ts'
import type { Log } from '#platform/logging/log.ts'
import type { Scope } from '#platform/program/scope.ts'
import { version } from '#platform/program/version.ts'
import { createSolanaNode, type SolanaNode } from '#platform/solana/solanaNode.ts'
import { type Clock, createTrustedClock, openClock } from '#platform/time/clock.ts'
import type { TimeSource } from '#platform/time/timeSource.ts'
import { evmNetworks, solanaNetworks } from '#shared/contract/networks.ts'
import type { ModelCommand } from '#shared/contract/supervision.ts'
import { toIsoTime } from '#shared/time.ts'
import { createClockStore } from '#storage/clockStore.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { deferStatements } from '#storage/sqlite/deferStatements.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createTimeline, type Timeline } from '../activity/timeline.ts'
import type { ApprovalDialog } from '../approvals/approvalDialog.ts'
import { steward } from '../base/actors.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { NewActivityEntry } from '../base/recordActivity.ts'
import { createRemovedThings, type RemovedThings } from '../base/removedThings.ts'
import { createTaskContext, type TaskContext } from '../base/taskContext.ts'
import type { HostedEndpoint } from '../connections/hostedSession.ts'
import { createServiceClient, type ServiceClient } from '../connections/serviceClient.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'
import { createUnrecordedTerminals, type UnrecordedTerminals } from '../recordings/unrecordedTerminals.ts'

export type AgentOptions = {
  dataFolder: string
  /** Whether to check the database for damage before opening it. */
  checkData?: boolean
  config: Config
  link: ServiceLink
  /** Remote service to which the wallet signs in. Undefined if the application runs its own service. */
  hosted: HostedEndpoint | undefined
  /** Sends the embedded service the data that it stores in memory only. Undefined without an embedded service. */
  notifyService: ((order: ModelCommand) => void) | undefined
  events: LocalEvents
  /** Native dialogs. Undefined if the window is a browser. */
  dialog: ApprovalDialog | undefined
  /** Scope for resources opened by components. */
  scope: Scope
  log: Log
  now: () => number
  /** Clocks of this computer. Defaults to clocks that follow `now`. */
  time?: TimeSource
}

export type AgentContext = AgentOptions & {
  database: Database
  clock: Clock
  /** URL of the hosted service, or `embedded`. Identifies the service in stored rows. */
  connectedService: string
  /** Calls the service as the user. */
  client: ServiceClient
  activity: Timeline
  /** Delivers removals at the service to the components whose data refers to them. */
  removedThings: RemovedThings
  /** Terminals of tool servers and programs. */
  unrecordedTerminals: UnrecordedTerminals
  /** Task of the current work. */
  tasks: TaskContext
  /** Every known network, through its configured RPC. */
  chains: readonly Chain[]
  /** Every known Solana network, through its configured RPC. */
  solana: readonly SolanaNode[]
}

/** @throws AppError `data/unusable`, `data/damaged`, `data/newer` */
export function createAgentContext(options: AgentOptions): AgentContext {
  const { dataFolder, link, events, scope, log, now } = options
  const database = scope.own(
    deferStatements(openDatabase(join(dataFolder, 'agent.sqlite'), { check: options.checkData ?? false })),
    (it) => it.close(),
  )
  migrate(database, agentMigrations)
  const clock = scope.own(
    options.time ? openClock({ source: options.time, store: createClockStore(database) }) : createTrustedClock(now),
    (it) => it.close(),
  )
  const tasks = createTaskContext()
  const client = scope.own(createServiceClient(link.target, tasks), (it) => it.close())
  const activity = createTimeline({
    database,
    tasks,
    headPath: join(dataFolder, 'activity.head'),
    now,
    onAppended: (sequence) => events.publish({ type: 'timeline.appended', sequence }),
    log: log.forArea('activity'),
  })
  scope.own(activity, (timeline) => {
    timeline.record({ kind: 'system.stopped', actor: steward, summary: 'Steward stopped.' })
    return timeline.close()
  })
  const { base, base_sepolia, solana: mainnet, solana_devnet: devnet } = options.config.wallet.rpc
  const rpcUrls = { base, 'base-sepolia': base_sepolia }
  const thread = scope.own(createChainThread({ log: log.forArea('chain') }), (it) => it.close())
  const chains = evmNetworks.map((network) => thread.chain({ network, rpcUrl: rpcUrls[network.slug] }))
  const solanaUrls = { solana: mainnet, 'solana-devnet': devnet }
  const solana = solanaNetworks.map((network) =>
    scope.own(createSolanaNode({ network, rpcUrl: solanaUrls[network.slug] }), (it) => it.close()),
  )
  scope.own(
    clock.onJump('activity-log', ({ fromMs, toMs, cause }) => {
      if (cause === 'set') activity.record(createClockEntry(fromMs, toMs))
    }),
    (unsubscribe) => unsubscribe(),
  )
  activity.record({
    kind: 'system.started',
    actor: steward,
    summary: `Steward ${version} started.`,
    detail: { version },
  })
  return {
    ...options,
    database,
    clock,
    connectedService: options.hosted?.url ?? 'embedded',
    client,
    activity,
    removedThings: createRemovedThings(),
    unrecordedTerminals: createUnrecordedTerminals(),
    tasks,
    chains,
    solana,
  }
}

function createClockEntry(fromMs: number, toMs: number): NewActivityEntry {
  const seconds = Math.round(Math.abs(toMs - fromMs) / 1000)
  const direction = toMs > fromMs ? 'ahead' : 'back'
  return {
    kind: 'system.clock',
    actor: { kind: 'system', name: 'This computer' },
    summary: `The clock was set ${direction} by ${formatDuration(seconds)}. For the next day, Steward measures elapsed time instead.`,
    detail: { from: toIsoTime(fromMs), to: toIsoTime(toMs) },
  }
}

function formatDuration(seconds: number): string {
  const [count, unit] =
    seconds < 120
      ? [seconds, 'second']
      : seconds < 7_200
        ? [Math.round(seconds / 60), 'minute']
        : seconds < 172_800
          ? [Math.round(seconds / 3_600), 'hour']
          : [Math.round(seconds / 86_400), 'day']
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`
}
