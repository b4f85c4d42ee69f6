/** `node scripts/perlScripts.ts`: compiles each helper script as `buildPerlScript(…)` composes it, without running it. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { definePart } from '#host/runtimes/perlScript.ts'

const scripts = 'src/main/host/runtimes/scripts'
const composing = /\b(?:buildPerlScript\(\s*((?:'[^']*'(?:,\s*)?)*)\)|readPerlPart\(('[^']*')\))/g
/** Restricts Perl to modules of `perl-base`, which every Debian system includes. */
const baseOnly = 'BEGIN { my @base = grep { m{/perl-base\\z} } @INC; @INC = @base if @base }\n'

const files = globSync(join(scripts, '*.pl')).map((path) => basename(path, '.pl'))
const sources = globSync('src/main/**/*.ts').filter((path) => !path.endsWith('.test.ts'))
const composed = new Map(sources.flatMap(findCompositions).map((parts) => [parts.join(), parts]))
composed.set('shared', ['shared'])

let failures = 0
for (const parts of composed.values()) {
  const missing = parts.filter((part) => !existsSync(resolvePart(part)))
  if (missing.length > 0) complain(parts, `Missing ${missing.map(resolvePart).join(', ')}.`)
  else compile(parts)
}
const used = new Set([...composed.values()].flat())
for (const name of files.filter((file) => !used.has(file))) complain([name], 'Unused script.')
process.exitCode = failures === 0 ? 0 : 1

function resolvePart(part: string): string {
  return join(scripts, `${part}.pl`)
}

/** Finds the script compositions in a file. Parts are compiled with the scripts that use them. */
function findCompositions(path: string): string[][] {
  return [...readFileSync(path, 'utf8').matchAll(composing)].map(([, whole, single]) => [
    ...new Set(['shared', ...namesIn(whole ?? single ?? '')]),
  ])
}

function namesIn(list: string): string[] {
  return [...list.matchAll(/'([^']*)'/g)].map(([, name = '']) => name)
}

function compile(parts: readonly string[]): void {
  const text = parts.map((part) => definePart(part, readFileSync(resolvePart(part), 'utf8'))).join('')
  const { status, stderr, error } = spawnSync('perl', ['-w', '-c', '-e', baseOnly + text])
  if (error) throw error
  const said = stderr
    .toString()
    .replace('-e syntax OK\n', '')
    .replace(/^.* syntax OK\n/m, '')
  if (status !== 0 || said !== '') complain(parts, said.trim())
}

function complain(parts: readonly string[], reason: string): void {
  failures++
  process.stdout.write(`${parts.join(' + ')}: ${reason}\n`)
}
