import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { formatCommandError, formatHelp, parseCommandLine, toExitCode } from './commandLine.ts'

const line = {
  usage: 'npm start --',
  about: 'Starts Steward.',
  commands: { doctor: 'Says what works here.', image: 'Keeps images.' },
  positionals: { image: ['WHAT', 'NAME'] },
  options: {
    json: { about: 'Prints JSON.' },
    listen: { takes: 'HOST:PORT', about: 'Where to listen.' },
    inner: { about: 'Between programs.', hidden: true },
  },
} as const

test('reads a command, flags and values', () => {
  const parsed = parseCommandLine(line, ['doctor', '--listen', '[::1]:80', '--json'])
  expect([parsed.command, parsed.has('json'), parsed.value('listen')]).toEqual(['doctor', true, '[::1]:80'])
  expect(parseCommandLine(line, ['--listen=a:1']).value('listen')).toBe('a:1')
})

test('reads the arguments of a command', () => {
  const parsed = parseCommandLine(line, ['image', 'add', '--json', 'debian'])
  expect([parsed.command, parsed.positionals, parsed.has('json')]).toEqual(['image', ['add', 'debian'], true])
  expect(parseCommandLine(line, ['doctor']).positionals).toEqual([])
})

test.each([
  [['--jsn'], 'Unknown option --jsn.'],
  [['--toString'], 'Unknown option --toString.'],
  [['docter'], 'Unknown command docter.'],
  [['image', 'add', 'one', 'two'], 'Unknown command two.'],
  [['doctor', 'doctor'], 'Unknown command doctor.'],
  [['--json', '--json'], '--json is set twice.'],
  [['--json=yes'], '--json does not take a value.'],
  [['--listen'], '--listen requires HOST:PORT.'],
  [['--listen', '--json'], '--listen requires HOST:PORT.'],
])('%j is refused', (parts, message) => {
  expect(() => parseCommandLine(line, parts)).toThrow(expect.objectContaining({ code: 'command/usage', message }))
})

test('help lists every public option', () => {
  expect(formatHelp(line)).toContain('image WHAT NAME     Keeps images.')
  expect(formatHelp(line)).toContain('--listen HOST:PORT  Where to listen.')
  expect(formatHelp(line)).not.toContain('inner')
})

test('reports an error with its fix and distinguishes invalid options from failed starts', () => {
  const busy = new AppError('data/in-use', 'Steward (process 7) is already using the data folder /d.')
  expect(formatCommandError(busy)).toMatch(/^steward: Steward \(process 7\).*Stop the other Steward/)
  expect(toExitCode(busy)).toBe(3)
  expect(toExitCode(new AppError('config/invalid', 'x'))).toBe(2)
})
