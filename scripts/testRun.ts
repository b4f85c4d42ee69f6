import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countTests, type TestReport } from './testReport.ts'

/** Node's compile cache, because tests start Node hundreds of times. */
const compileCacheFolder = join(process.cwd(), 'node_modules/.cache/compiled')

const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export function runTests(parts: readonly string[]): Promise<TestReport> {
  return readReport(parts, (environment) => startVitest(parts, 'inherit', environment))
}

/** Starts vitest. Buffers its output until `print` is called, so that the lines of two runs do not mix. */
export function startBufferedRun(parts: readonly string[]): {
  ended: Promise<TestReport>
  print(): Promise<TestReport>
} {
  const output: Buffer[] = []
  let show = (bytes: Buffer): void => void output.push(bytes)
  const report = readReport(parts, (environment) => {
    const child = startVitest(parts, 'pipe', environment)
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes: Buffer) => show(bytes))
    return child
  })
  return {
    ended: report,
    print() {
      show = (bytes) => void process.stdout.write(bytes)
      show(Buffer.concat(output))
      return report
    },
  }
}

function startVitest(
  parts: readonly string[],
  output: 'inherit' | 'pipe',
  environment: Record<string, string>,
): ChildProcess {
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...parts], {
    stdio: ['ignore', output, output],
    env: { NODE_COMPILE_CACHE: compileCacheFolder, ...process.env, ...environment },
    // A test that signals its own process group then ends vitest only, and the report says so.
    detached: true,
  })
  if (child.pid !== undefined) forwardSignals(child, child.pid)
  return child
}

/** Forwards signals to the process group of the child, and ends like this process would have once the child ends. */
function forwardSignals(child: ChildProcess, group: number): void {
  let received: NodeJS.Signals | undefined
  const forward = (signal: NodeJS.Signals) => {
    received = signal
    try {
      process.kill(-group, signal)
    } catch {
      // The group has ended.
    }
  }
  for (const signal of endSignals) process.on(signal, forward)
  child.once('close', () => {
    for (const signal of endSignals) process.off(signal, forward)
    if (received) process.kill(process.pid, received)
  })
}

/** Reads the report. A failed run without a failed test counts as one failure. */
async function readReport(
  parts: readonly string[],
  start: (environment: Record<string, string>) => ChildProcess,
): Promise<TestReport> {
  const folder = mkdtempSync(join(tmpdir(), 'steward-report-'))
  const file = join(folder, 'report.json')
  try {
    const [status, signal]: unknown[] = await once(start({ STEWARD_TEST_REPORT: file }), 'close')
    const report = reportIn(file)
    if (!report)
      return { files: [], failures: [`failed: vitest ${parts.join(' ')} ended without a report (${status ?? signal})`] }
    if (status === 0 || countTests(report).failed > 0) return report
    return { ...report, failures: [`failed: vitest ${parts.join(' ')} ended with ${status ?? signal}`] }
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
