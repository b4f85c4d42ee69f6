import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildPerlScript, formatPerlArgument } from './perlScript.ts'
import { systemCallTable } from './systemCallNumbers.ts'

/** Runs Perl code after the shared part. */
function ran(perl: string, argument: string) {
  const { status, stdout, stderr } = spawnSync('perl', ['-w', '-e', `${buildPerlScript()}\n${perl}`, argument])
  return { status, stdout: stdout.toString(), stderr: stderr.toString() }
}

const runWith = (perl: string, values: Record<string, unknown> = {}) => ran(perl, formatPerlArgument(values))
const readBack = (text: string) => ran('print to_json(from_json($ARGV[0]))', text)

describe('helper script JSON', () => {
  test('round-trips unchanged with 1 and 0 for booleans', () => {
    const toNumber = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (_, inner: unknown) => (typeof inner === 'boolean' ? Number(inner) : inner))
    const values = fc.array(fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(values, (value) => {
        const { stdout, stderr } = readBack(JSON.stringify(value))
        expect({ value: JSON.parse(stdout), stderr }).toEqual({ value: toNumber(value), stderr: '' })
      }),
      { numRuns: 60 },
    )
  })

  test.each([
    ['whole numbers beyond 32 bits', '[9007199254740991,-9007199254740991]'],
    ['fractions to the last bit', '[0.1,5e-324,1.7976931348623157e+308]'],
    ['a string of digits', '["007","5"]'],
    ['an empty key, string, array and object', '{"":"","a":[],"b":{}}'],
  ])('keeps %s', (_, text) => {
    expect(JSON.parse(readBack(text).stdout)).toEqual(JSON.parse(text))
  })

  test('decodes every notation of a character to UTF-8 bytes', () => {
    const text = String.raw`["\u00e9\u20ac\ud83d\ude00\u0000\/\b\f\n\r\t\"\\", "é€😀", "\ud83d!", "\ude00"]`
    const { stdout } = ran('print join "|", map { unpack "H*", $_ } @{from_json($ARGV[0])}', text)
    const bytes = ['é€😀\0/\b\f\n\r\t"\\', 'é€😀', '\ufffd!', '\ufffd'].map((value) =>
      Buffer.from(value).toString('hex'),
    )
    expect(stdout).toBe(bytes.join('|'))
  })

  test.each([
    ...[
      '',
      ' ',
      '{',
      '[1,]',
      '[1 2]',
      '{"a"}',
      '{"a":1,}',
      '{a:1}',
      "'a'",
      '"a',
      '"\t"',
      '"\\x"',
      '"\\u12"',
      '01',
      '+1',
    ],
    ...['1.', '.5', '1e', 'tru', 'nulll', 'NaN', '[1]]', '{"a":1}x', '\u00a01'],
  ])('refuses %j', (text) => {
    expect(readBack(text)).toEqual({
      status: 255,
      stdout: '',
      stderr: expect.stringMatching(/^Invalid JSON at byte /),
    })
  })

  test('writes booleans and rejects values that JSON cannot represent', () => {
    expect(runWith('print to_json({ yes => \\1, no => \\0, none => undef })').stdout).toBe(
      '{"no":false,"none":null,"yes":true}',
    )
    expect(runWith('print to_json(9**9**9)').stderr).toBe('JSON cannot represent Inf.\n')
    expect(runWith('print to_json(sub {})').stderr).toBe('JSON cannot represent CODE.\n')
  })
})

describe('helper script system calls', () => {
  test('are called by name and write into a variable', () => {
    const perl =
      'read_options(); my $buffer = "\\0" x 256; print call("statx", -100, "/", 0x100, 0x7ff, $buffer), " ", unpack "x28 S", $buffer'
    expect(runWith(perl)).toEqual({ status: 0, stdout: `0 ${0o40755}`, stderr: '' })
  })

  test('report the error number', () => {
    const perl = 'read_options(); print call("statx", -100, "/nowhere", 0, 0, "\\0" x 256), " ", $! + 0'
    expect(runWith(perl).stdout).toBe('-1 2')
  })

  test('without a known number end the script with a message', () => {
    const { status, stderr } = runWith('read_options(); call("teleport", 1)')
    expect({ status, stderr }).toEqual({
      status: expect.any(Number),
      stderr: 'Unknown system call teleport.\n',
    })
    expect(status).not.toBe(0)
  })

  test('have a number on each architecture', () => {
    const names = Object.values(systemCallTable).map((numbers) => Object.keys(numbers))
    expect(names).toEqual(names.map(() => names[0]))
  })
})

describe('a helper script', () => {
  test('reads its input by name', () => {
    expect(runWith('my $options = read_options(); print $options->{path}', { path: '/é' }).stdout).toBe('/é')
  })

  test('reports the file and line of an error', () => {
    expect(ran('', '{}').stderr).toBe('')
    const { stderr } = spawnSync('perl', ['-e', `${buildPerlScript()}from_json("1"); to_json([bless [], "Thing"])`])
    expect(stderr.toString()).toBe('JSON cannot represent Thing.\n')
    const wrong = spawnSync('perl', ['-e', `${buildPerlScript()}call(undef)`]).stderr.toString()
    expect(wrong).toContain('Unknown system call')
  })
})

test('the supervisor signals nothing if bwrap did not start', () => {
  const supervisor = buildPerlScript(
    'range',
    'owners',
    'files',
    'start',
    'exec',
    'enter',
    'view',
    'network',
    'supervisor',
  )
  const perl = `${supervisor}setpgrp 0, 0; kill_start(); print "alive"`
  const { signal, stdout } = spawnSync('perl', ['-e', perl])
  expect({ signal, stdout: stdout.toString() }).toEqual({ signal: null, stdout: 'alive' })
})
