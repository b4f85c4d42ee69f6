import { join } from 'node:path'
import { type ActivitySettingsStore, activitySettings } from '#agent/activity/activitySettings.ts'
import { type Retention, retention } from '#agent/activity/retention.ts'
import { settingsRepository } from '#agent/activity/settingsRepository.ts'
import { type Timeline, timeline } from '#agent/activity/timeline.ts'
import { silentLog } from '#platform/log.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/openDatabase.ts'

/** The log of Activity in a folder, with what cuts off its old entries. */
export function openLog({ folder, now }: { folder: string; now: () => number }): {
  log: Timeline
  settings: ActivitySettingsStore
  keeper: Retention
  close(): Promise<void>
} {
  const database = openDatabase(join(folder, 'agent.sqlite'))
  migrate(database, agentMigrations)
  const headPath = join(folder, 'activity.head')
  const log = timeline({ database, headPath, now, onAppended: () => {}, log: silentLog })
  const settings = activitySettings({ settings: settingsRepository(database), note: log.note, now })
  const keeper = retention({ timeline: log, settings, passedMs: now, log: silentLog })
  return {
    ...{ log, settings, keeper },
    async close() {
      await keeper.close()
      await log.close()
      database.close()
    },
  }
}
