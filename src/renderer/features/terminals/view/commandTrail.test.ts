import { Terminal } from '@xterm/headless'
import { expect, test } from 'vitest'
import { createCommandTrail } from './commandTrail.ts'

const osc = (data: string) => `\x1b]133;${data}\x07`
const ran = (command: string, output: string, code: number) =>
  `${osc('A')}$ ${osc('B')}${command}\r\n${osc('C')}${output}${osc(`D;${code}`)}`
const lines = (count: number) => Array.from({ length: count }, (_, place) => `${place}\r\n`).join('')

async function open(output: string) {
  const terminal = new Terminal({ cols: 20, rows: 5, scrollback: 100, allowProposedApi: true })
  const listeners: (() => void)[] = []
  const trail = createCommandTrail(terminal as never, (listener) => {
    listeners.push(listener)
    return () => {}
  })
  const write = (text: string) => new Promise<void>((parsed) => terminal.write(text, parsed))
  await write(output)
  const top = () => terminal.buffer.active.viewportY
  return { trail, write, top, terminal, typed: () => listeners.forEach((it) => void it()) }
}

const three = `${ran('one', lines(10), 0)}${ran('two', lines(10), 1)}${ran('three', lines(10), 0)}${osc('A')}$ ${osc('B')}`

test('jumps from command to command and back to the end', async () => {
  const { trail, top, terminal } = await open(three)
  const end = top()
  const places: number[] = []
  for (const way of ['previous', 'previous', 'previous', 'previous', 'next', 'next', 'next', 'next'] as const) {
    trail.jump(way)
    places.push(top())
  }
  expect(places).toEqual([22, 11, 0, 0, 11, 22, end, end])
  expect(terminal.buffer.active.baseY).toBe(end)
})

test('selects the command jumped to or else the newest', async () => {
  const { trail, typed } = await open(three)
  expect(trail.present()).toMatchObject({ command: 'three' })
  trail.jump('previous')
  trail.jump('previous')
  expect(trail.present()).toMatchObject({ command: 'two', exitCode: 1 })
  expect(trail.visible.now).toMatchObject([{ command: 'two', row: 0, isChosen: true }])
  typed()
  expect(trail.present()).toMatchObject({ command: 'three' })
})

test('reports visible commands with their rows only when they change', async () => {
  const { trail, write } = await open(ran('false', '', 1))
  let changes = 0
  trail.visible.subscribe(() => {
    changes += 1
  })
  expect(trail.visible.now).toMatchObject([{ command: 'false', row: 0, exitCode: 1, state: 'done' }])
  await write('x')
  expect(changes).toBe(0)
  await write(lines(6))
  expect(trail.visible.now).toEqual([])
})

test('disables jumps in the alternate screen', async () => {
  const { trail, write } = await open(three)
  expect(trail.canJump()).toBe(true)
  await write('\x1b[?1049h')
  expect(trail.canJump()).toBe(false)
  expect(trail.visible.now).toEqual([])
})

test('disables jumps for a shell without command marks', async () => {
  const { trail, top } = await open(lines(20))
  const end = top()
  expect(trail.canJump()).toBe(false)
  trail.jump('previous')
  expect([top(), trail.present(), trail.isWaiting()]).toEqual([end, undefined, false])
})
