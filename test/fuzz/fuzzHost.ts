import type { ScreenQuery } from '#host/terminals/emulator/screenQuery.ts'
import { createScreenPool, type LossReason, type RemoteScreen } from '#host/terminals/worker/screenPool.ts'
import { silentLog } from '#platform/logging/log.ts'
import { maxMsFor, ownWork, withinDeadline } from './deadline.ts'
import { createSeededRandom, randomOutput } from './randomOutput.ts'

export type FuzzOptions = { seed: number; ms: number; deadlineMs: number }
export type FuzzResult = { bytes: number; questions: number; megabytes: number }

const sizes = [
  { cols: 80, rows: 24 },
  { cols: 2, rows: 1 },
  { cols: 200, rows: 60 },
  { cols: 1_000, rows: 1_000 },
]
const questions: readonly ScreenQuery[] = [
  { kind: 'read', full: false, format: 'text' },
  { kind: 'read', full: false, format: 'ansi' },
  { kind: 'snapshot', scrollback: 0 },
]
const maxMegabytes = 1_024

/**
 * Floods screens of one real worker with hostile output. After each chunk, a quiet screen of the same worker, and
 * sometimes the flooded one, is queried and must respond in time. No screen may be lost.
 */
export async function fuzzHost({ seed, ms, deadlineMs }: FuzzOptions): Promise<FuzzResult> {
  const random = createSeededRandom(seed)
  const output = randomOutput(random)
  const workerUrl = new URL('../../src/main/host/terminals/worker/screenWorker.ts', import.meta.url)
  const pool = createScreenPool({ workerUrl, workers: 1, log: silentLog })
  const before = megabytesNow()
  const losses: LossReason[] = []
  let parsed = Promise.withResolvers<void>()
  const open = (size: { cols: number; rows: number }): RemoteScreen =>
    pool.open(size, {
      onParsed: () => parsed.resolve(),
      onAnswer: () => {},
      onTitle: () => {},
      onBell: () => {},
      onNotice: () => {},
      onLost: (why) => void losses.push(why),
    })
  const result: FuzzResult = { bytes: 0, questions: 0, megabytes: 0 }
  try {
    const quiet = open({ cols: 80, rows: 24 })
    const loud = sizes.map((size) => ({ screen: open(size), size }))
    const query = async (subject: string, screen: RemoteScreen, question: ScreenQuery): Promise<void> => {
      const asking = `${subject} (${question.kind}, after ${result.bytes} bytes)`
      await withinDeadline(asking, { ms: deadlineMs, clock: ownWork }, screen.ask(question))
      result.questions += 1
    }
    await quiet.ask({ kind: 'read', full: false, format: 'text' })
    for (const endMs = Date.now() + ms; Date.now() < endMs; ) {
      const emulator = loud[Math.floor(random() * loud.length)]
      const bytes = output.next().value
      if (!emulator) continue
      const { length } = bytes // the bytes are transferred to the worker
      result.bytes += length
      parsed = Promise.withResolvers()
      emulator.screen.output(bytes, false)
      if (random() < 0.05) {
        emulator.size = { cols: 2 + Math.floor(random() * 300), rows: 1 + Math.floor(random() * 100) }
        emulator.screen.resize(emulator.size)
      }
      await query('a quiet screen', quiet, { kind: 'read', full: false, format: 'text' })
      const subject = `${length} bytes of output for ${emulator.size.cols}×${emulator.size.rows} (after ${result.bytes})`
      await withinDeadline(
        subject,
        { ms: deadlineMs + maxMsFor(length, emulator.size), clock: ownWork },
        parsed.promise,
      )
      const question = questions[Math.floor(random() * questions.length)]
      if (question && random() < 0.2)
        await query(`a screen of ${emulator.size.cols}×${emulator.size.rows}`, emulator.screen, question)
      result.megabytes = Math.max(result.megabytes, megabytesNow() - before)
      if (result.megabytes > maxMegabytes)
        throw new Error(`It took ${result.megabytes} MB after ${result.bytes} bytes.`)
      if (losses.length > 0) throw new Error(`A screen was lost (${losses[0]}) after ${result.bytes} bytes.`)
    }
    return result
  } finally {
    await pool.close()
  }
}

function megabytesNow(): number {
  return Math.round(process.memoryUsage.rss() / 1024 / 1024)
}
