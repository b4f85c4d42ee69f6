import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { ActivitySettingsStore } from '../activity/activitySettings.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { createCastFiles } from '../recordings/castFiles.ts'
import { createRecordingRepository } from '../recordings/recordingRepository.ts'
import { createRecordingRoutes } from '../recordings/recordingRoutes.ts'
import { createRecordings } from '../recordings/recordings.ts'
import type { AgentContext } from './agentContext.ts'

/** Composes recordings of terminals, if the user enables them. */
export function composeRecordings(
  {
    dataFolder,
    database,
    client,
    link,
    activity,
    unrecordedTerminals: unrecorded,
    scope,
    now,
    clock,
    ...context
  }: AgentContext,
  { settings }: { settings: ActivitySettingsStore },
): { endpoints: LocalEndpoint[] } {
  const records = createRecordingRepository(database)
  const files = createCastFiles(join(dataFolder, 'recordings'))
  const recorder = scope.own(
    createRecordings({
      ...{
        records,
        files,
        unrecorded,
        settings,
        client,
        link,
        now,
        passedMs: clock.passedMs,
        recordActivity: activity.record,
        log: context.log.forArea('recordings'),
      },
      newId: () => `rec_${randomBytes(12).toString('hex')}`,
    }),
    (it) => it.close(),
  )
  return { endpoints: createRecordingRoutes({ recordings: recorder, records, files }) }
}
