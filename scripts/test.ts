/**
 * `npm test`: the checks and the build, each counted as one test, then every suite of vitest. The last line is always
 * `N passed, N failed, N skipped`, and the exit code tells the same. `npm test -- ARGUMENTS` hands them to vitest and
 * leaves checks and build out: `npm test -- --project unit src/shared`.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildStep, checkSteps, failedSteps } from './steps.ts'
import { type Counts, plainLine } from './testCounts.ts'

const asked = process.argv.slice(2)
const steps = asked.length === 0 ? [...checkSteps, buildStep] : []
const failed = failedSteps(steps)
const suites = runSuites(asked)
const total: Counts = {
  passed: steps.length - failed + suites.passed,
  failed: failed + suites.failed,
  skipped: suites.skipped,
}
process.stdout.write(`\n${plainLine(total)}\n`)
process.exitCode = total.failed === 0 && suites.passed > 0 ? 0 : 1

/** What vitest counted; a run that ended badly without a failed test to show for it counts as one. */
function runSuites(parts: readonly string[]): Counts {
  const folder = mkdtempSync(join(tmpdir(), 'steward-counts-'))
  const file = join(folder, 'counts.json')
  try {
    const { status, signal } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...parts], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, STEWARD_TEST_COUNTS: file },
    })
    const counts = countsIn(file)
    if (status === 0 && counts) return counts
    if (!counts) process.stdout.write(`vitest ended without a count (exit code ${status}, signal ${signal})\n`)
    return { passed: 0, skipped: 0, ...counts, failed: Math.max(1, counts?.failed ?? 0) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function countsIn(file: string): Counts | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Counts // written by plainReporter.ts
  } catch {
    return undefined
  }
}
