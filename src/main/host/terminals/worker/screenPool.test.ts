import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import { createHangingScreenWorker } from '#test/support/fakes/hangingScreenWorker.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import type { ScreenReply } from '../emulator/screenQuery.ts'
import { createScreenPool, type LossReason, type ScreenHandlers, type ScreenPool } from './screenPool.ts'

const workerUrl = new URL('./screenWorker.ts', import.meta.url)
let pool: ScreenPool

afterEach(() => pool.close())

function start(url = workerUrl, workers = 2): ScreenPool {
  pool = createScreenPool({ workerUrl: url, workers, log: silentLog })
  return pool
}

function handlers(): ScreenHandlers & { parsed: number; answers: string[]; losses: LossReason[] } {
  const seen = {
    parsed: 0,
    answers: [] as string[],
    losses: [] as LossReason[],
    onParsed(bytes: number) {
      seen.parsed += bytes
    },
    onAnswer: (data: string) => void seen.answers.push(data),
    onBell: () => {},
    onNotice: () => {},
    onTitle: () => {},
    onLost: (why: LossReason) => void seen.losses.push(why),
  }
  return seen
}

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const readText = (reply: ScreenReply): string => new TextDecoder().decode(reply.bytes)
const wholeText = { kind: 'read', full: true, format: 'text' } as const

test('each screen has its own output, and a query sees all earlier output', async () => {
  start()
  const screens = ['a', 'b', 'c'].map((name) => ({ name, screen: pool.open({ cols: 20, rows: 5 }, handlers()) }))
  for (let n = 0; n < 50; n++) for (const { name, screen } of screens) screen.output(bytes(`${name}${n}\r\n`), false)
  for (const { name, screen } of screens) {
    const lines = readText(await screen.ask(wholeText)).split('\n')
    expect(lines).toEqual(Array.from({ length: 50 }, (_, n) => `${name}${n}`))
  }
})

test('a resize applies between the output before and after it', async () => {
  start()
  const screen = pool.open({ cols: 10, rows: 5 }, handlers())
  screen.output(bytes('0123456789abc\r\n'), false)
  screen.resize({ cols: 20, rows: 5 })
  screen.output(bytes('0123456789abc'), false)
  const reply = await screen.ask({ kind: 'read', full: false, format: 'text' })
  expect(readText(reply)).toBe('0123456789abc\n0123456789abc')
  expect(reply).toMatchObject({ cols: 20, cursorPosition: { row: 1, col: 13 } })
})

test('a quiet screen replies while others in its worker are flooded', async () => {
  start(workerUrl, 1)
  const busy = handlers()
  const loud = pool.open({ cols: 80, rows: 24 }, busy)
  const quiet = pool.open({ cols: 80, rows: 24 }, handlers())
  // Every line moves the cursor, so all of the output must be parsed.
  const flood = `\x1b[31m${'color '.repeat(10)}\x1b[1C\x1b[0m\r\n`.repeat(12_000)
  loud.output(bytes(flood), false)
  quiet.output(bytes('quiet'), false)
  expect(readText(await quiet.ask(wholeText))).toBe('quiet')
  expect(busy.parsed).toBe(0)
  await loud.ask(wholeText)
  await eventually(() => expect(busy.parsed).toBe(Buffer.byteLength(flood)))
})

test('a flood renders the same as if parsed in one pass', async () => {
  start(workerUrl, 1)
  const observed = handlers()
  const late = pool.open({ cols: 80, rows: 24 }, observed)
  const atOnce = pool.open({ cols: 80, rows: 24 }, handlers())
  const lines = Array.from({ length: 24_000 }, (_, index) => `\x1b[3${index % 7}mü ${index}\x1b[K${'.'.repeat(70)}\r\n`)
  const flood = bytes(`\x1b[1m${lines.join('')}$ `)
  // Splits anywhere, including within sequences and characters.
  for (let from = 0; from < flood.length; from += 777_777) {
    late.output(flood.slice(from, from + 777_777), false)
    atOnce.output(flood.slice(from, from + 777_777), true)
  }
  const question = { kind: 'snapshot', scrollback: 10_000 } as const
  const expected = readText(await atOnce.ask(question))
  expect(expected).toContain('ü 23999')
  expect(readText(await late.ask(question))).toBe(expected)
  expect(observed.parsed).toBe(flood.length)
})

test('replayed output is drawn without replying to its queries', async () => {
  start()
  const observed = handlers()
  const screen = pool.open({ cols: 20, rows: 5 }, observed)
  screen.output(bytes('\x1b[6n'), true)
  screen.output(bytes('ab\x1b[6n'), false)
  await screen.ask(wholeText)
  expect(observed.answers).toEqual(['\x1b[1;3R'])
})

test('a closed screen rejects pending and new requests', async () => {
  start()
  const screen = pool.open({ cols: 20, rows: 5 }, handlers())
  const reply = screen.ask(wholeText)
  screen.close()
  await expect(reply).rejects.toMatchObject({ code: 'internal/unexpected' })
  await expect(screen.ask(wholeText)).rejects.toMatchObject({ code: 'internal/unexpected' })
})

test('a worker crash is reported to its screens, and new screens work', async () => {
  const script = join(temporaryFolder(), 'dying.mjs')
  writeFileSync(
    script,
    `import { parentPort } from 'node:worker_threads'
     import { serveScreens } from ${JSON.stringify(new URL('./screenServer.ts', import.meta.url).href)}
     parentPort.on('message', (it) => {
       if (it.type === 'output' && it.bytes.length === 3) throw new Error('as if it had crashed')
     })
     serveScreens(parentPort)`,
  )
  start(pathToFileURL(script), 1)
  const observed = handlers()
  const screen = pool.open({ cols: 20, rows: 5 }, observed)
  screen.output(bytes('die'), false)
  const reply = screen.ask(wholeText)
  await expect(reply).rejects.toMatchObject({ code: 'internal/unexpected' })
  await eventually(() => expect(observed.losses).toEqual(['crashed']))
  const next = pool.open({ cols: 20, rows: 5 }, handlers())
  next.output(bytes('alive'), false)
  expect(readText(await next.ask(wholeText))).toBe('alive')
})

test.each(['S', 'T', 'L', 'M', 'b', 'I', 'Z', '@', 'P', 'X'])(
  'a huge repeat count for CSI %s does not block other screens',
  async (final) => {
    start(workerUrl, 1)
    const loud = pool.open({ cols: 80, rows: 24 }, handlers())
    const quiet = pool.open({ cols: 80, rows: 24 }, handlers())
    loud.output(bytes(`a\x1b[2147483647${final}\x1b[H\x1b[2Jafter`), false)
    quiet.output(bytes('quiet'), false)
    expect(readText(await quiet.ask(wholeText))).toBe('quiet')
    expect(readText(await loud.ask({ kind: 'read', full: false, format: 'text' }))).toBe('after')
  },
)

test('replaces a stuck worker and reports the reason to each screen', async () => {
  pool = createScreenPool({ workerUrl: createHangingScreenWorker(), workers: 1, stuckMs: 500, log: silentLog })
  const observed = [handlers(), handlers()] as const
  const [loud, quiet] = observed.map((it) => pool.open({ cols: 20, rows: 5 }, it))
  loud?.output(bytes('stick fast'), false)
  const reply = quiet?.ask(wholeText)
  await expect(reply).rejects.toMatchObject({ code: 'internal/unexpected' })
  expect(observed.map(({ losses }) => losses)).toEqual([['drawing'], ['neighbour']])
  const next = pool.open({ cols: 20, rows: 5 }, handlers())
  next.output(bytes('alive'), false)
  expect(readText(await next.ask(wholeText))).toBe('alive')
})

test('reports queries and titles once per turn with all replies in order', async () => {
  start()
  const titles: string[] = []
  const observed = { ...handlers(), onTitle: (title: string) => void titles.push(title) }
  const screen = pool.open({ cols: 20, rows: 5 }, observed)
  screen.output(
    bytes(Array.from({ length: 100 }, (_, index) => `\x1b]0;${index}\x07\x1b[5;${(index % 9) + 1}H\x1b[6n`).join('')),
    false,
  )
  await screen.ask(wholeText)
  expect(observed.answers.join('')).toBe(
    Array.from({ length: 100 }, (_, index) => `\x1b[5;${(index % 9) + 1}R`).join(''),
  )
  expect(observed.answers.length).toBeLessThan(10)
  expect(titles.at(-1)).toBe('99')
  expect(titles.length).toBeLessThan(10)
})

test('a worker without screens exits, and another serves the next screen', async () => {
  pool = createScreenPool({ workerUrl, workers: 1, idleMs: 1, log: silentLog })
  const observed = handlers()
  for (let round = 0; round < 2; round += 1) {
    const screen = pool.open({ cols: 20, rows: 5 }, observed)
    screen.output(bytes('still here'), false)
    expect(readText(await screen.ask(wholeText))).toBe('still here')
    expect(pool.workers).toBe(1)
    screen.close()
    await eventually(() => expect(pool.workers).toBe(0))
  }
  expect(observed.losses).toEqual([])
})
