import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { marksDescriptorVariable } from '#shared/terminalMarks.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { shellIntegrationScript } from './shellIntegrationScript.ts'

/**
 * Runs an interactive bash and returns its output for `lines`. The prompt is `$ `, ESC is shown as `␛` and BEL as `␇`.
 */
function runShell(
  lines: readonly string[],
  { before = '', after = '', cwd, key = '' }: Record<string, string> = {},
): string {
  const folder = temporaryFolder('shell-marks')
  const script = join(folder, 'marks.sh')
  const settings = join(folder, 'bashrc')
  writeFileSync(script, shellIntegrationScript)
  writeFileSync(settings, `PS1='$ '\n${before}\n. ${script}\n${after}\n`)
  // Same as in the runtimes: a pipe that contains the key and has no writer.
  const start = key === '' ? '' : `exec 7< <(printf '%s\\n' '${key}'); wait $!; `
  const { stdout, stderr, status } = spawnSync('bash', ['-c', `${start}exec bash --rcfile "$0" -i 2>&1`, settings], {
    input: `${lines.join('\n')}\nexit 0\n`,
    encoding: 'utf8',
    cwd: cwd ?? folder,
    env: {
      PATH: '/usr/bin:/bin',
      HOME: folder,
      TERM: 'xterm-256color',
      MARKS: script,
      ...(key && { [marksDescriptorVariable]: '7' }),
    },
    timeout: 30_000,
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.replaceAll('\x1b', '␛').replaceAll('\x07', '␇')
}

/** Formats marks as `<A>`, and omits the working directory and the typed text. */
const marks = (text: string) =>
  text
    .replace(/␛\]7;[^␇]*␇/g, '')
    .replace(/␛\]133;([^␇]*)␇/g, '<$1>')
    .replace(/<B>[^\n]*\n/g, '<B>')

test('marks prompts and commands with their output and exit codes', () => {
  expect(marks(runShell(['echo hi', '(exit 3)', '']))).toContain(
    '<D;0><A>$ <B><C>hi\n<D;0><A>$ <B><C><D;3><A>$ <B><D;3><A>$ <B>',
  )
})

test('each mark ends with the terminal key, which started programs do not get', () => {
  const look = 'cat /proc/$PPID/environ /proc/self/environ | tr "\\0" "\\n"; cat /dev/fd/7 2>&-'
  const text = runShell([`bash --norc -c '${look}' | grep -c secret`, 'true'], { key: 'secret' })
  const end = ';steward=secret␇'
  expect(text).toContain(`␛]133;A${end}$ ␛]133;B${end}`)
  expect(text).toContain(`␛]133;C${end}0\n␛]133;D;1${end}`)
})

test('marks a prompt changed by the user and preserves its text', () => {
  const text = marks(runShell(["PS1='one> '", 'true', 'PS1="(two) $PS1"', 'true', 'PS1="$PS1 end "', 'true']))
  expect(text).toContain('<D;0><A>one> <B>')
  expect(text).toContain('<D;0><A>(two) one> <B>')
  expect(text).toContain('<D;0><A>(two) one>  end <B>')
})

test.each([
  ['set before', { before: "PROMPT_COMMAND='echo own'" }],
  ['set after', { after: "PROMPT_COMMAND='echo own'" }],
  ['an array', { before: "PROMPT_COMMAND=('echo own')" }],
])('runs the prompt command of the user as well: %s', (_, settings) => {
  const text = marks(runShell(['false', 'echo $?'], settings))
  expect(text).toContain('own\n<D;1><A>$ <B><C>1\n')
  expect(text).toContain('own\n<D;0><A>$ <B>')
})

test('does not change an exported prompt command', () => {
  expect(runShell(['true'], { before: "export PROMPT_COMMAND='echo own'" })).not.toContain('133;')
})

test('supports a nested shell and a shell without settings', () => {
  const text = marks(runShell(['bash --norc --noprofile -i', 'echo inner', 'exit 4', 'echo $?']))
  expect(text).toContain('inner\n')
  expect(text).toContain('<D;4><A>$ <B><C>4\n')
  expect(text).not.toMatch(/not found|unbound/)
})

test('strict settings and traces of the user cause no output', () => {
  const text = runShell(['set -u', 'true', 'set -x', 'true', 'set +x'])
  expect(text).not.toMatch(/unbound|__steward_ps1|started=/)
  expect(marks(text)).toContain('<D;0><A>$ <B>')
})

test('reports the working directory without characters that could end the sequence', () => {
  const text = runShell(['mkdir "a%b c"', 'cd "a%b c"', "mkdir $'x\\e]0;y\\a'", "cd $'x\\e]0;y\\a'"])
  expect(text).toMatch(/␛\]7;file:\/\/[^/]+\/[^␇]*\/a%25b c␇/)
  expect(text).toMatch(/␛\]7;file:\/\/[^/]+\/[^␇]*\/a%25b c\/x\?\]0;y\?␇/)
})

test.each([
  ['a script', ['bash', '-c', '. "$MARKS"; true']],
  ['sh', ['sh', '-c', '. "$MARKS"; true']],
])('%s prints no marks', (_, command) => {
  const text = runShell([command.map((word) => `'${word}'`).join(' '), 'echo end'])
  expect(marks(text)).toMatch(/<C><D;0><A>\$ <B><C>end/)
})

test('a terminal without support gets no marks', () => {
  expect(runShell(['true'], { before: 'TERM=dumb' })).not.toContain('133;')
})
