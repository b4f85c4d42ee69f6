import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestReport } from './testReport.ts'

/** Tests start Node hundreds of times: what it has compiled once, it then reads from here. */
const compiledFolder = join(process.cwd(), 'node_modules/.cache/compiled')

/** Runs vitest with these arguments, in view. */
export function runTests(parts: readonly string[]): Promise<TestReport> {
  return reportOf(parts, (environment) => startVitest(parts, 'inherit', environment))
}

/** Begins at once; what it prints waits until `shown` is called, so that two runs do not mix their lines. */
export function laterRun(parts: readonly string[]): { ended: Promise<TestReport>; shown(): Promise<TestReport> } {
  const held: Buffer[] = []
  let show = (bytes: Buffer): void => void held.push(bytes)
  const report = reportOf(parts, (environment) => {
    const child = startVitest(parts, 'pipe', environment)
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes: Buffer) => show(bytes))
    return child
  })
  return {
    ended: report,
    shown() {
      show = (bytes) => void process.stdout.write(bytes)
      show(Buffer.concat(held))
      return report
    },
  }
}

function startVitest(
  parts: readonly string[],
  output: 'inherit' | 'pipe',
  environment: Record<string, string>,
): ChildProcess {
  return spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...parts], {
    stdio: ['ignore', output, output],
    env: { NODE_COMPILE_CACHE: compiledFolder, ...process.env, ...environment },
  })
}

/** A run that ended badly without a failed test to show for it counts as one. */
async function reportOf(
  parts: readonly string[],
  start: (environment: Record<string, string>) => ChildProcess,
): Promise<TestReport> {
  const folder = mkdtempSync(join(tmpdir(), 'steward-report-'))
  const file = join(folder, 'report.json')
  try {
    const [status, signal]: unknown[] = await once(start({ STEWARD_TEST_REPORT: file }), 'close')
    const report = reportIn(file)
    if (status === 0 && report) return report
    if (!report) process.stdout.write(`vitest ${parts.join(' ')} ended without a report (${status ?? signal})\n`)
    const counts = { passed: 0, skipped: 0, ...report?.counts, failed: Math.max(1, report?.counts.failed ?? 0) }
    return { remarks: [], files: [], ...report, counts }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function reportIn(file: string): TestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestReport // written by plainReporter.ts
  } catch {
    return undefined
  }
}
