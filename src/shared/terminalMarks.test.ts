import { Terminal } from '@xterm/headless'
import { expect, test } from 'vitest'
import { type TerminalMarks, terminalMarks } from './terminalMarks.ts'

const osc = (data: string) => `\x1b]133;${data}\x07`
const promptOf = (text = '$ ') => `${osc('A')}${text}${osc('B')}`
const ran = (command: string, output: string, code: number) =>
  `${promptOf()}${command}\r\n${osc('C')}${output}${osc(`D;${code}`)}`

function open({ cols = 40, rows = 6, scrollback = 100 } = {}) {
  const terminal = new Terminal({ cols, rows, scrollback, allowProposedApi: true })
  const marks = terminalMarks(terminal)
  const write = (text: string) => new Promise<void>((parsed) => terminal.write(text, parsed))
  return { terminal, marks, write }
}

const told = (marks: TerminalMarks) =>
  marks.list().map((mark) => ({
    line: mark.line,
    command: mark.command,
    state: mark.state,
    exitCode: mark.exitCode,
    output: marks.outputOf(mark),
  }))

test('a command has its prompt, its text, its output and its exit code', async () => {
  const { marks, write } = open()
  await write(ran('ls', 'one\r\ntwo\r\n', 0) + ran('false', '', 1) + promptOf())
  expect(told(marks)).toEqual([
    { line: 0, command: 'ls', state: 'done', exitCode: 0, output: 'one\ntwo' },
    { line: 3, command: 'false', state: 'done', exitCode: 1, output: '' },
    { line: 4, command: '', state: 'prompt', exitCode: null, output: '' },
  ])
})

test('what runs has the output until now', async () => {
  const { marks, write } = open()
  await write(`${promptOf()}make\r\n${osc('C')}building\r\nstill`)
  expect(told(marks)).toEqual([
    { line: 0, command: 'make', state: 'running', exitCode: null, output: 'building\nstill' },
  ])
})

test('output that does not end its line is whole', async () => {
  const { marks, write } = open()
  await write(`${ran('printf hi', 'hi', 0)}${promptOf()}`)
  expect(told(marks)[0]).toMatchObject({ command: 'printf hi', output: 'hi' })
})

test('a command and output wider than the screen are read as they were written', async () => {
  const { marks, write } = open({ cols: 10 })
  await write(ran('echo 0123456789', 'abcdefghijklmno\r\n', 0))
  expect(told(marks)).toMatchObject([{ command: 'echo 0123456789', output: 'abcdefghijklmno' }])
})

test('a command of several lines comes without the prompts between them', async () => {
  const { marks, write } = open()
  await write(`${promptOf()}for it in 1 2\r\n> do echo $it\r\n> done\r\n${osc('C')}1\r\n2\r\n${osc('D;0')}`)
  expect(told(marks)).toMatchObject([{ command: 'for it in 1 2\ndo echo $it\ndone', output: '1\n2' }])
})

test('a prompt that is drawn again is one, and Enter without a command is none', async () => {
  const { marks, write } = open()
  await write(`${promptOf()}\r\n${osc('D;130')}${promptOf()}\x1b[H\x1b[2J${promptOf()}`)
  expect(told(marks)).toMatchObject([{ line: 0, state: 'prompt' }])
})

test('a shell in a shell leaves the outer command without an end of its own', async () => {
  const { marks, write } = open()
  await write(
    `${promptOf()}bash\r\n${osc('C')}${ran('true', '', 0)}${promptOf()}exit\r\n${osc('C')}exit\r\n${osc('D;3')}`,
  )
  expect(told(marks)).toMatchObject([
    { command: 'bash', state: 'running' },
    { command: 'true', exitCode: 0 },
    { command: 'exit', exitCode: 3, output: 'exit' },
  ])
})

test('marks go with the lines that are forgotten', async () => {
  const { marks, write } = open({ scrollback: 5 })
  await write(ran('first', 'x\r\n', 0) + ran('seq', '1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n', 0) + promptOf())
  expect(told(marks).map(({ command }) => command)).toEqual(['seq', ''].slice(-marks.list().length))
  expect(marks.list().length).toBeLessThan(3)
})

test('a program that fills the screen sets no marks', async () => {
  const { marks, write } = open()
  await write(`${promptOf()}vim\r\n${osc('C')}\x1b[?1049h${promptOf()}\x1b[?1049l${osc('D;0')}${promptOf()}`)
  expect(told(marks)).toMatchObject([{ command: 'vim', state: 'done', exitCode: 0 }, { state: 'prompt' }])
})

test.each(['', ';', 'Z', 'A;aid=1', 'B', 'C', 'D', 'D;x', 'D;99999'])('%j alone does no harm', async (data) => {
  const { marks, write } = open()
  await write(osc(data))
  expect(marks.list().length).toBeLessThan(2)
})

test('a new viewer gets the same marks', async () => {
  const one = open()
  await one.write(
    `${ran('echo naïve', 'naïve 漢字\r\n', 0)}${ran('false', '', 1)}${promptOf()}make\r\n${osc('C')}going`,
  )
  const other = open()
  await other.write('$ echo naïve\r\nnaïve 漢字\r\n$ false\r\n$ make\r\ngoing')
  await other.write(one.marks.carried())
  expect(told(other.marks)).toEqual(told(one.marks))

  await other.write(`\r\n${osc('D;7')}${promptOf()}`)
  expect(told(other.marks).at(-2)).toMatchObject({ command: 'make', exitCode: 7, output: 'going' })
})

test('what is carried above the first line of a viewer is left out', async () => {
  const one = open({ scrollback: 50 })
  await one.write(
    ran('seq 20', Array.from({ length: 20 }, (_, place) => `${place}\r\n`).join(''), 0) + ran('last', 'x\r\n', 0),
  )
  const other = open({ scrollback: 50 })
  await other.write('17\r\n18\r\n19\r\n$ last\r\nx\r\n')
  await other.write(one.marks.carried())
  expect(told(other.marks)).toMatchObject([{ command: 'last', output: 'x' }])
})

test('what is no list of marks changes nothing', async () => {
  const { marks, write } = open()
  await write('\x1b]7133;{"no":1}\x07\x1b]7133;nothing\x07\x1b]7133;[{"line":1e9}]\x07')
  expect(marks.list()).toEqual([])
})
