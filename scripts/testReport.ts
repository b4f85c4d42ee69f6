export type Counts = { passed: number; failed: number; skipped: number }

/** Results of one vitest run, written by `test/support/plainReporter.ts` and added up by `scripts/test.ts`. */
export type TestReport = {
  counts: Counts
  /** One line for each test that failed, was retried or was skipped. */
  remarks: readonly string[]
  files: readonly { name: string; seconds: number }[]
}

const maxSlowestFiles = 20

/** Formats the remarks and the slowest files. The line with the counts is `plainLine`. */
export function formatReport({ remarks, files }: TestReport): string[] {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, maxSlowestFiles)
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
