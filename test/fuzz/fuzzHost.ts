import type { ScreenQuestion } from '#host/terminals/screenMessages.ts'
import { type LossReason, type RemoteScreen, screenPool } from '#host/terminals/screenPool.ts'
import { silentLog } from '#platform/log.ts'
import { mostMsFor, ownWork, withinDeadline } from './deadline.ts'
import { randomOutput, seededRandom } from './randomOutput.ts'

export type FuzzOptions = { seed: number; ms: number; deadlineMs: number }
export type FuzzResult = { bytes: number; questions: number; megabytes: number }

const sizes = [
  { cols: 80, rows: 24 },
  { cols: 2, rows: 1 },
  { cols: 200, rows: 60 },
  { cols: 1_000, rows: 1_000 },
]
const questions: readonly ScreenQuestion[] = [
  { kind: 'read', full: false, format: 'text' },
  { kind: 'read', full: false, format: 'ansi' },
  { kind: 'snapshot', scrollback: 0 },
]
const mostMegabytes = 1_024

/**
 * Floods screens of one real worker with output that means no good. After each piece a quiet screen of the same worker is
 * asked, and sometimes the loud one, and must answer in time; no screen may be lost.
 */
export async function fuzzHost({ seed, ms, deadlineMs }: FuzzOptions): Promise<FuzzResult> {
  const random = seededRandom(seed)
  const output = randomOutput(random)
  const workerUrl = new URL('../../src/main/host/terminals/screenWorker.ts', import.meta.url)
  const pool = screenPool({ workerUrl, workers: 1, log: silentLog })
  const before = megabytesNow()
  const lost: LossReason[] = []
  let parsed = Promise.withResolvers<void>()
  const open = (size: { cols: number; rows: number }): RemoteScreen =>
    pool.open(size, {
      onParsed: () => parsed.resolve(),
      onAnswer: () => {},
      onTitle: () => {},
      onBell: () => {},
      onNotice: () => {},
      onLost: (why) => void lost.push(why),
    })
  const result: FuzzResult = { bytes: 0, questions: 0, megabytes: 0 }
  try {
    const quiet = open({ cols: 80, rows: 24 })
    const loud = sizes.map((size) => ({ screen: open(size), size }))
    const asked = async (what: string, screen: RemoteScreen, question: ScreenQuestion): Promise<void> => {
      const asking = `${what} (${question.kind}, after ${result.bytes} bytes)`
      await withinDeadline(asking, { ms: deadlineMs, clock: ownWork }, screen.ask(question))
      result.questions += 1
    }
    await quiet.ask({ kind: 'read', full: false, format: 'text' })
    for (const endMs = Date.now() + ms; Date.now() < endMs; ) {
      const one = loud[Math.floor(random() * loud.length)]
      const bytes = output.next().value
      if (!one) continue
      const { length } = bytes // they move to the worker
      result.bytes += length
      parsed = Promise.withResolvers()
      one.screen.output(bytes, false)
      if (random() < 0.05) {
        one.size = { cols: 2 + Math.floor(random() * 300), rows: 1 + Math.floor(random() * 100) }
        one.screen.resize(one.size)
      }
      await asked('a quiet screen', quiet, { kind: 'read', full: false, format: 'text' })
      const what = `${length} bytes of output for ${one.size.cols}×${one.size.rows} (after ${result.bytes})`
      await withinDeadline(what, { ms: deadlineMs + mostMsFor(length, one.size), clock: ownWork }, parsed.promise)
      const question = questions[Math.floor(random() * questions.length)]
      if (question && random() < 0.2) await asked(`a screen of ${one.size.cols}×${one.size.rows}`, one.screen, question)
      result.megabytes = Math.max(result.megabytes, megabytesNow() - before)
      if (result.megabytes > mostMegabytes)
        throw new Error(`It took ${result.megabytes} MB after ${result.bytes} bytes.`)
      if (lost.length > 0) throw new Error(`A screen was lost (${lost[0]}) after ${result.bytes} bytes.`)
    }
    return result
  } finally {
    await pool.close()
  }
}

function megabytesNow(): number {
  return Math.round(process.memoryUsage.rss() / 1024 / 1024)
}
