import { execFile } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifyRows } from '#agent/activity/verifyRows.ts'
import { openLog } from '../support/fixtures/logWithRetention.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'

/**
 * The agent is killed at every step of cutting the log. The remaining log verifies, and the next run completes the cut.
 */
const dayMs = 86_400_000
const startMs = Date.UTC(2026, 0, 1)
const laterMs = startMs + 10 * dayMs

async function logOfOldEntries(): Promise<string> {
  const folder = temporaryFolder('cut')
  let nowMs = startMs
  const { log, settings, close } = openLog({ folder, now: () => nowMs })
  for (let index = 0; index < 1_200; index += 1) {
    log.record({ kind: 'system.started', actor: { kind: 'system', name: 'Steward' }, summary: `old ${index}` })
  }
  nowMs = laterMs
  log.record({ kind: 'system.started', actor: { kind: 'system', name: 'Steward' }, summary: 'new' })
  settings.change({ keep_entries_days: 3_000 })
  settings.change({ keep_entries_days: 5 })
  await close() // before the settings are applied
  return folder
}

function cutIn(folder: string, crashPoint: string): Promise<{ output: string; signal: string | undefined }> {
  const programArguments = [
    join(projectFolder, 'test/support/processes/crashingLogPruning.ts'),
    folder,
    crashPoint,
    String(laterMs),
  ]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, programArguments, (error, stdout, stderr) => {
      if (error && error.signal !== 'SIGKILL') reject(new Error(stderr, { cause: error }))
      else resolve({ output: stdout.trim(), signal: error?.signal ?? undefined })
    })
  })
}

test('the log verifies after a kill at any step and pruning completes later', async () => {
  const prepared = await logOfOldEntries()
  const copy = (): string => {
    const folder = temporaryFolder('cut')
    cpSync(prepared, folder, { recursive: true })
    return folder
  }
  const writes = Number((await cutIn(copy(), 'never')).output)
  expect(writes).toBeGreaterThanOrEqual(6) // the entry, the permission to cut, three removals, and the next entry
  const points = [...Array.from({ length: writes + 1 }, (_, index) => String(index + 1)), 'head']
  for (const crashPoint of points) {
    const folder = copy()
    expect([crashPoint, (await cutIn(folder, crashPoint)).signal]).toEqual([crashPoint, 'SIGKILL'])
    const { log, retention, close } = openLog({ folder, now: () => laterMs })
    try {
      expect([crashPoint, await verifyRows(log)]).toMatchObject([crashPoint, { ok: true, problems: [] }])
      await retention.apply()
      log.record({ kind: 'system.started', actor: { kind: 'system', name: 'Steward' }, summary: 'goes on' })
      expect([crashPoint, await verifyRows(log)]).toMatchObject([
        crashPoint,
        { ok: true, problems: [], cut_through: 1_200 },
      ])
      const summaries = log.records.following(0, 100).map(({ summary }) => summary)
      expect([crashPoint, summaries[0], summaries.at(-1)]).toEqual([crashPoint, 'new', 'goes on'])
      expect(summaries.filter((it) => it.startsWith('Entries 1 to 1200 were removed'))).toHaveLength(1)
    } finally {
      await close()
    }
  }
})
