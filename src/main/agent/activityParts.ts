import { connectionNotes } from './activity/connectionNotes.ts'
import { serviceFollower } from './activity/serviceFollower.ts'
import { timelineRoutes } from './activity/timelineRoutes.ts'
import type { AgentGround } from './agentGround.ts'
import type { LocalEndpoint } from './localEndpoint.ts'
import type { WalletVault } from './wallet/walletVault.ts'

/** The log, which also follows the connection and what the service did. */
export function activityParts(
  { activity, link, client, scope, log }: AgentGround,
  { wallet }: { wallet: Pick<WalletVault, 'accounts'> },
): { endpoints: LocalEndpoint[] } {
  const isOwn = (address: string): boolean => wallet.accounts().some((account) => account.address === address)
  scope.own(connectionNotes({ link, note: activity.note }), (it) => it.close())
  scope.own(serviceFollower({ link, client, timeline: activity, isOwn, log: log.of('activity') }), (it) => it.close())
  return { endpoints: timelineRoutes(activity) }
}
