/**
 * `node scripts/language.ts`: fails if comments or names violate the language rules (CONTRIBUTING), or if a commit on
 * this branch has a subject that is malformed or longer than 60 characters. Older files may have as many violations as
 * `languageBaseline.json` lists. The counts can only decrease: `node scripts/language.ts --update` writes lower counts.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findViolations, readCodeFiles, type Violation } from './codeLanguage.ts'
import { findSubjectProblem } from './commitSubjects.ts'

const areas = [
  'src/main/agent',
  'src/main/service',
  'src/main/host',
  'src/main',
  'src/shared',
  'src/renderer',
  'src/preload',
  'test',
  'scripts',
]
const baselinePath = join(import.meta.dirname, 'languageBaseline.json')
const baseline = JSON.parse(readFileSync(baselinePath, 'utf8')) as Record<string, number>

const violations = readCodeFiles(['src', 'test', 'scripts']).flatMap(findViolations)
const counts = new Map<string, Violation[]>()
for (const violation of violations) {
  const key = `${areas.find((area) => violation.path.startsWith(`${area}/`))} ${violation.rule}`
  counts.set(key, [...(counts.get(key) ?? []), violation])
}

if (process.argv.includes('--update')) {
  const lower = [...counts].map(([key, { length }]) => [key, Math.min(length, baseline[key] ?? 0)] as const)
  const remaining = Object.fromEntries(
    lower.filter(([, count]) => count > 0).toSorted(([a], [b]) => a.localeCompare(b)),
  )
  writeFileSync(baselinePath, `${JSON.stringify(remaining, null, 2)}\n`)
} else {
  const problems = [...counts].flatMap(([key, list]) => {
    const allowed = baseline[key] ?? 0
    if (list.length <= allowed) return []
    const lines = list.map(({ path, line, text }) => `  ${path}:${line} ${text}`)
    return [`${key}: ${list.length}, allowed ${allowed}`, ...(allowed === 0 ? lines : lines.slice(0, 40))]
  })
  problems.push(...findSubjectProblems())
  for (const problem of problems) process.stdout.write(`${problem}\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
}

/**
 * Returns the problems of the commits that this branch adds. The main branch without an upstream has no commits to
 * check.
 */
function findSubjectProblems(): string[] {
  const log = ['@{upstream}', 'origin/main', 'main'].map(readLogSince).find((text) => text !== undefined) ?? ''
  return log
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const problem = findSubjectProblem(line.slice(line.indexOf(' ') + 1))
      return problem === undefined ? [] : [`commit ${line}: ${problem}`]
    })
}

function readLogSince(base: string): string | undefined {
  try {
    const parts = ['log', '--no-merges', '--format=%h %s', `${base}..HEAD`]
    return execFileSync('git', parts, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return undefined
  }
}
