import { join } from 'node:path'
import { listRecentTasks } from '#agent/activity/taskTotals.ts'
import { createTimeline } from '#agent/activity/timeline.ts'
import { listEntries } from '#agent/activity/timelineReading.ts'
import { createTaskContext } from '#agent/base/taskContext.ts'
import { silentLog } from '#platform/logging/log.ts'
import { listTimeline } from '#shared/contract/timeline.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { temporaryFolder } from '../../support/fixtures/temporaryFolder.ts'

const entries = 100_000
/** Entries per task. */
const together = 5
const vocabulary = ['index', 'html', 'deploy', 'invoice', 'example', 'report', 'server', 'archive', 'backup', 'nightly']

/** Measures each try in milliseconds, in a log of 100,000 entries. `added` is the time per entry in writes of 1,000. */
export async function timelineFigures(tries: (count: number) => number) {
  const folder = temporaryFolder('bench-timeline')
  const database = openDatabase(join(folder, 'agent.sqlite'))
  migrate(database, agentMigrations)
  const log = createTimeline({
    ...{ database, tasks: createTaskContext(), headPath: join(folder, 'activity.head'), now: Date.now, log: silentLog },
    onAppended: () => {},
  })
  try {
    const began = performance.now()
    for (let from = 0; from < entries; from += 1_000) {
      database.transaction(() => {
        for (let index = from; index < from + 1_000; index += 1) log.record(createEntry(index))
      })()
    }
    const added = (performance.now() - began) / entries
    const { signal } = new AbortController()
    const list = (query: object) => listEntries(log.records, listTimeline.query.parse(query), signal)
    const measureEach = async (count: number, work: (index: number) => unknown): Promise<number[]> => {
      const times: number[] = []
      for (let index = 0; index < count; index += 1) {
        const start = performance.now()
        await work(index)
        times.push(performance.now() - start)
      }
      return times
    }
    const pickWord = (index: number) => vocabulary[index % vocabulary.length] ?? ''
    return {
      added: [added],
      common: await measureEach(tries(100), (index) => list({ search: pickWord(index) })),
      rare: await measureEach(tries(100), (index) => list({ search: `${pickWord(index)} run ${index * 997}` })),
      opened: await measureEach(tries(100), () => list({})),
      tasks: await measureEach(tries(50), () => listRecentTasks(log.records, { limit: 50 }, () => new Map())),
    }
  } finally {
    await log.close()
    database.close()
  }
}

function createEntry(index: number) {
  const word = vocabulary[index % vocabulary.length]
  return {
    kind: 'command.ran',
    actor: { kind: 'tool', name: 'research agent' } as const,
    subject: `sandbox-${index % 40}`,
    summary: `Ran “node ${word}.js --run ${index}” in sandbox-${index % 40}: exit code 0 after ${index % 900} ms`,
    detail: { exit_code: 0, duration_ms: index % 900, cost_micro_usd: index % 7 },
    task: `call:${Math.floor(index / together)}`,
    links: { sandbox: `sandbox-${index % 40}` },
  }
}
