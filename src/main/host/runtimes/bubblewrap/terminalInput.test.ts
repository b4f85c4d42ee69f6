import { closeSync, constants, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { terminalLimits } from '#shared/contract/terminals.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import { expectAppError } from '#test/support/fixtures/sandboxSpecs.ts'
import { createTerminalInput, type TerminalInput } from './terminalInput.ts'

const native = createRequire(import.meta.url)(`@lydell/node-pty-${process.platform}-${process.arch}/pty.node`)
const maxBytes = terminalLimits.maxInputBytes
let ends: { master: number; slave: number }
let input: TerminalInput
let isOpen: boolean
let program: number

beforeEach(() => {
  ends = native.open(80, 24)
  program = openSync(`/proc/self/fd/${ends.slave}`, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK)
  isOpen = true
  input = createTerminalInput(ends.master, () => isOpen)
})

afterEach(() => {
  input.close()
  for (const end of [ends.master, ends.slave, program]) closeSync(end)
})

/** Reads all available input. The kernel returns one line per read. */
function readLines(): string {
  const bytes = Buffer.alloc(64 * 1024)
  for (let text = ''; ; ) {
    try {
      text += bytes.subarray(0, readSync(program, bytes)).toString()
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return text
      throw error
    }
  }
}

/** In canonical mode the kernel accepts lines until its buffers are full. */
const line = `${'x'.repeat(1_000)}\n`
const fill = (): void => input.write(Buffer.from(line.repeat(300)))

test('queues unread input in order and rejects input above the limit as a whole', async () => {
  fill()
  input.write(Buffer.from('second\n'))
  await expectAppError('terminal/input-full', (async () => input.write(Buffer.alloc(maxBytes)))())
  input.write(Buffer.from('last\n'))
  let read = ''
  await eventually(() => {
    read += readLines()
    expect(read.endsWith('last\n')).toBe(true)
  })
  expect(read).toBe(`${line.repeat(300)}second\nlast\n`)
})

test('drops a terminal reply while input waits and writes it otherwise', async () => {
  input.answer(Buffer.from('first reply\n'))
  await eventually(() => expect(readLines()).toBe('first reply\n'))
  fill()
  input.answer(Buffer.from('second reply\n'))
  let read = ''
  await eventually(() => {
    read += readLines()
    expect(read.length).toBe(line.length * 300)
  })
  expect(read).not.toContain('reply')
})

test('reports when the terminal has received the input, even if it is closed first', () => {
  const written: string[] = []
  input.write(Buffer.from('short\n'), () => written.push('short'))
  expect(written).toEqual(['short'])
  input.write(Buffer.from(line.repeat(300)), () => written.push('long'))
  expect(written).toEqual(['short'])
  input.close()
  expect(written).toEqual(['short', 'long'])
})

test('does not write to a reused file descriptor', async () => {
  isOpen = false
  const written: string[] = []
  input.write(Buffer.from('secret\n'), () => written.push('dropped'))
  expect(written).toEqual(['dropped'])
  isOpen = true
  input.write(Buffer.from('later\n'))
  await eventually(() => expect(readLines()).toBe('later\n'))
})

test('bounds the number of pending writes regardless of size', async () => {
  fill()
  const writeMany = async (): Promise<void> => {
    for (let index = 0; index < 10_000; index += 1) input.write(Buffer.from('x'))
  }
  await expectAppError('terminal/input-full', writeMany())
})
