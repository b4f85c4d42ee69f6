import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { ActivitySettingsStore } from '../activity/activitySettings.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { castFiles } from '../recordings/castFiles.ts'
import { recordingRepository } from '../recordings/recordingRepository.ts'
import { recordingRoutes } from '../recordings/recordingRoutes.ts'
import { recordings } from '../recordings/recordings.ts'
import type { AgentGround } from './agentGround.ts'

/** Wires recordings of terminals, where the user enables them. */
export function recordingParts(
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
    ...ground
  }: AgentGround,
  { settings }: { settings: ActivitySettingsStore },
): { endpoints: LocalEndpoint[] } {
  const records = recordingRepository(database)
  const files = castFiles(join(dataFolder, 'recordings'))
  const made = scope.own(
    recordings({
      ...{
        records,
        files,
        unrecorded,
        settings,
        client,
        link,
        now,
        passedMs: clock.passedMs,
        note: activity.note,
        log: ground.log.of('recordings'),
      },
      newId: () => `rec_${randomBytes(12).toString('hex')}`,
    }),
    (it) => it.close(),
  )
  return { endpoints: recordingRoutes({ recordings: made, records, files }) }
}
