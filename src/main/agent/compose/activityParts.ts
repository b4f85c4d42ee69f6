import { type ActivitySettingsStore, activitySettings } from '../activity/activitySettings.ts'
import { connectionNotes } from '../activity/connectionNotes.ts'
import { retention } from '../activity/retention.ts'
import { serviceFollower } from '../activity/serviceFollower.ts'
import { settingsRepository } from '../activity/settingsRepository.ts'
import { settingsRoutes } from '../activity/settingsRoutes.ts'
import type { ChatTitles } from '../activity/taskTotals.ts'
import { timelineRoutes } from '../activity/timelineRoutes.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import type { WalletVault } from '../wallet/walletVault.ts'
import type { AgentGround } from './agentGround.ts'

/** The log, which also follows the connection and what the service did. */
export function activityParts(
  { activity, database, link, client, scope, now, clock, ...ground }: AgentGround,
  { wallet, chatTitles }: { wallet: Pick<WalletVault, 'accounts'>; chatTitles: ChatTitles },
): { settings: ActivitySettingsStore; endpoints: LocalEndpoint[] } {
  const log = ground.log.of('activity')
  const isOwn = (address: string): boolean => wallet.accounts().some((account) => account.address === address)
  const settings = activitySettings({ settings: settingsRepository(database), note: activity.note, now })
  scope.own(connectionNotes({ link, note: activity.note }), (it) => it.close())
  scope.own(serviceFollower({ link, client, timeline: activity, isOwn, log }), (it) => it.close())
  scope.own(retention({ timeline: activity, settings, passedMs: clock.passedMs, log }), (it) => it.close())
  return { settings, endpoints: [...timelineRoutes(activity, chatTitles), ...settingsRoutes(settings)] }
}
