export type Counts = { passed: number; failed: number; skipped: number }

/** What one run of vitest tells: `test/support/plainReporter.ts` writes it, `scripts/test.ts` adds several up. */
export type TestReport = {
  counts: Counts
  /** Each test that failed, needed a second try or was skipped, as a line to print. */
  remarks: readonly string[]
  files: readonly { name: string; seconds: number }[]
}

const slowestShown = 20

/** The remarks, then the slowest files. The line with the counts is `plainLine`. */
export function reportLines({ remarks, files }: TestReport): string[] {
  const slowest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, slowestShown)
  const times = slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`)
  return [...remarks, '', `The ${slowest.length} slowest files:`, ...times, '']
}

export function plainLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

export function reportsTogether(reports: readonly TestReport[]): TestReport {
  const sum = (name: keyof Counts) => reports.reduce((total, { counts }) => total + counts[name], 0)
  return {
    counts: { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') },
    remarks: reports.flatMap(({ remarks }) => remarks),
    files: reports.flatMap(({ files }) => files),
  }
}
