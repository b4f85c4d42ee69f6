import { writeFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import type { SerializedError, TestCase, TestModule } from 'vitest/node'
import { DefaultReporter } from 'vitest/node'
import {
  type Counts,
  countTests,
  type FileReport,
  formatReport,
  plainLine,
  type TestReport,
} from '#scripts/testReport.ts'

/**
 * Prints the default report, followed by a summary: each test that failed, was retried, or was skipped with its reason,
 * the slowest files, and one machine-readable line, `N passed, N failed, N skipped`. If `scripts/test.ts` names a file,
 * the summary goes there instead, because that script adds more counts. A test that is skipped without a reason counts
 * as failed.
 */
export default class PlainReporter extends DefaultReporter {
  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: 'passed' | 'interrupted' | 'failed',
  ): void {
    super.onTestRunEnd(modules, errors, reason)
    const failures = errors.map((error) => `failed: outside a test: ${shortText(error)}`)
    const report: TestReport = { files: modules.map((module) => this.#fileReport(module)), failures }
    const file = process.env.STEWARD_TEST_REPORT
    if (file !== undefined) writeFileSync(file, JSON.stringify(report))
    else for (const line of [...formatReport(report), plainLine(countTests(report))]) this.log(line)
  }

  #fileReport(module: TestModule): FileReport {
    const broken = [module, ...module.children.allSuites()].filter((it) => it.errors().length > 0)
    const counts: Counts = { passed: 0, failed: broken.length, skipped: 0 }
    const remarks = broken.map((value) => `failed: ${module.relativeModuleId}: ${shortText(value.errors()[0])}`)
    for (const test of module.children.allTests()) {
      counts[this.#outcome(test)]++
      remarks.push(...this.#remarks(test))
    }
    return { name: module.relativeModuleId, suite: module.project.name, seconds: readSeconds(module), counts, remarks }
  }

  #outcome(test: TestCase): keyof Counts {
    const { state } = test.result()
    if (state === 'passed') return 'passed'
    if (state !== 'skipped') return 'failed'
    return this.#isDeselected() || readReason(test) !== undefined ? 'skipped' : 'failed'
  }

  #remarks(test: TestCase): string[] {
    const name = `${test.module.relativeModuleId} > ${test.fullName}`
    const remarks = test.diagnostic()?.flaky ? [`second try: ${name}`] : []
    const { state, errors = [] } = test.result()
    if (state === 'failed') return [`failed: ${name}: ${shortText(errors[0])}`]
    if (state !== 'skipped' || this.#isDeselected()) return remarks
    const reason = readReason(test) ?? 'NO REASON GIVEN, so it counts as failed'
    return [...remarks, stripVTControlCharacters(`skipped: ${name}: ${reason}`)]
  }

  /** Whether tests were filtered by name. The others are then not listed. */
  #isDeselected(): boolean {
    return this.ctx.config.testNamePattern !== undefined
  }
}

const maxErrorLength = 600

/** Formats the error in one line, enough to find it at the end of a long log. */
function shortText(error: Partial<SerializedError> | undefined): string {
  const text = stripVTControlCharacters(`${error?.name ?? 'Error'}: ${error?.message ?? 'no message'}`)
  const frame = error?.stacks?.[0]
  const location = frame ? ` (${frame.file.replace(`${process.cwd()}/`, '')}:${frame.line})` : ''
  return `${text.replaceAll(/\s+/g, ' ').slice(0, maxErrorLength)}${location}`
}

function readReason(test: TestCase): string | undefined {
  const result = test.result()
  const skipReason = result.state === 'skipped' ? result.note : undefined
  return skipReason ?? (test.options.mode === 'run' ? 'a hook before it failed' : undefined)
}

/** Sums the durations of tests, hooks and imports. */
function readSeconds(module: TestModule): number {
  const { duration, collectDuration, setupDuration } = module.diagnostic()
  return (duration + collectDuration + setupDuration) / 1000
}
