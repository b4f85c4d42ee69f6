import { join } from 'node:path'
import { type ActivitySettingsStore, createActivitySettings } from '#agent/activity/activitySettings.ts'
import { createRetention, type Retention } from '#agent/activity/retention.ts'
import { createSettingsRepository } from '#agent/activity/settingsRepository.ts'
import { createTimeline, type Timeline } from '#agent/activity/timeline.ts'
import { silentLog } from '#platform/logging/log.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'

/** Opens the activity log of a folder, together with the job that removes old entries. */
export function openLog({ folder, now }: { folder: string; now: () => number }): {
  log: Timeline
  settings: ActivitySettingsStore
  retention: Retention
  close(): Promise<void>
} {
  const database = openDatabase(join(folder, 'agent.sqlite'))
  migrate(database, agentMigrations)
  const headPath = join(folder, 'activity.head')
  const log = createTimeline({ database, headPath, now, onAppended: () => {}, log: silentLog })
  const settings = createActivitySettings({ settings: createSettingsRepository(database), note: log.note, now })
  const retention = createRetention({ timeline: log, settings, passedMs: now, log: silentLog })
  return {
    ...{ log, settings, retention },
    async close() {
      await retention.close()
      await log.close()
      database.close()
    },
  }
}
