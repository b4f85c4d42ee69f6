export type Counts = { passed: number; failed: number; skipped: number }

export type FileReport = {
  name: string
  /** Name of the suite, as passed to `--project`. */
  suite: string
  seconds: number
  counts: Counts
  /** One line per failed, retried or skipped test. */
  remarks: readonly string[]
}

/** Results of one vitest run. Written by `test/support/runner/plainReporter.ts` and summed by `scripts/test.ts`. */
export type TestReport = {
  files: readonly FileReport[]
  /** Failures outside test files, one line each. */
  failures: readonly string[]
}

const maxSlowestFiles = 20

/** Formats the remarks and the slowest files. `plainLine` formats the counts. */
export function formatReport({ files, failures }: TestReport): string[] {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, maxSlowestFiles)
  const times = slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`)
  const remarks = [...failures, ...files.flatMap((file) => file.remarks)]
  return [...remarks, '', `The ${slowest.length} slowest files:`, ...times, '']
}

export function plainLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

export function countTests({ files, failures }: TestReport): Counts {
  const sum = (name: keyof Counts) => files.reduce((total, { counts }) => total + counts[name], 0)
  return { passed: sum('passed'), failed: sum('failed') + failures.length, skipped: sum('skipped') }
}

export function joinReports(reports: readonly TestReport[]): TestReport {
  return {
    files: reports.flatMap(({ files }) => files),
    failures: reports.flatMap(({ failures }) => failures),
  }
}

/** Replaces the results of files that ran again. The remarks retain the failures of the first run. */
export function replaceFiles(first: TestReport, second: TestReport): TestReport {
  const repeated = new Map(second.files.map((file) => [file.name, file]))
  const files = first.files.map((file) => {
    const again = repeated.get(file.name)
    if (again === undefined) return file
    const earlier = file.remarks.map((remark) => remark.replace(/^failed: /, 'failed in the first run: '))
    return { ...again, remarks: [...earlier, ...again.remarks] }
  })
  return { files, failures: [...first.failures, ...second.failures] }
}
