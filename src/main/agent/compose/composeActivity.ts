import { type ActivitySettingsStore, createActivitySettings } from '../activity/activitySettings.ts'
import { recordConnections } from '../activity/connectionNotes.ts'
import { createRetention } from '../activity/retention.ts'
import { createServiceFollower, hostedPace } from '../activity/serviceFollower.ts'
import { createSettingsRepository } from '../activity/settingsRepository.ts'
import { createSettingsRoutes } from '../activity/settingsRoutes.ts'
import type { ChatTitles } from '../activity/taskTotals.ts'
import { createTimelineRoutes } from '../activity/timelineRoutes.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import type { WalletVault } from '../wallet/walletVault.ts'
import type { AgentContext } from './agentContext.ts'

/** The log, which also follows the connection and what the service did. */
export function composeActivity(
  { activity, database, link, client, scope, now, clock, ...context }: AgentContext,
  { wallet, chatTitles }: { wallet: Pick<WalletVault, 'accounts'>; chatTitles: ChatTitles },
): { settings: ActivitySettingsStore; endpoints: LocalEndpoint[] } {
  const log = context.log.forArea('activity')
  const isOwn = (address: string): boolean => wallet.accounts().some((account) => account.address === address)
  const settings = createActivitySettings({ settings: createSettingsRepository(database), note: activity.note, now })
  scope.own(recordConnections({ link, note: activity.note }), (it) => it.close())
  const pace = context.hosted && hostedPace
  scope.own(createServiceFollower({ link, client, timeline: activity, isOwn, pace, now: clock.runningMs, log }), (it) =>
    it.close(),
  )
  scope.own(createRetention({ timeline: activity, settings, passedMs: clock.passedMs, log }), (it) => it.close())
  return { settings, endpoints: [...createTimelineRoutes(activity, chatTitles), ...createSettingsRoutes(settings)] }
}
