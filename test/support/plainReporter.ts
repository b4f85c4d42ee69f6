import { writeFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import type { SerializedError, TestCase, TestModule } from 'vitest/node'
import { DefaultReporter } from 'vitest/node'
import { type Counts, plainLine } from '../../scripts/testCounts.ts'

/**
 * The usual report, then in plain words: each test that needed a second try, each that was skipped and why, and one line
 * that a script can read, `N passed, N failed, N skipped`. `scripts/test.ts` names a file to get the counts instead of
 * the line, since it has more to count. A test that is skipped without a reason counts as failed.
 */
export default class PlainReporter extends DefaultReporter {
  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: 'passed' | 'interrupted' | 'failed',
  ): void {
    super.onTestRunEnd(modules, errors, reason)
    const counts: Counts = { passed: 0, failed: errors.length, skipped: 0 }
    for (const module of modules) {
      const suites = [...module.children.allSuites()]
      counts.failed += [module, ...suites].filter((it) => it.errors().length > 0).length
      for (const test of module.children.allTests()) counts[this.#outcome(test)]++
    }
    const file = process.env.STEWARD_TEST_COUNTS
    if (file === undefined) this.#say(plainLine(counts))
    else writeFileSync(file, JSON.stringify(counts))
  }

  #outcome(test: TestCase): keyof Counts {
    const result = test.result()
    const name = `${test.module.relativeModuleId} > ${test.fullName}`
    if (test.diagnostic()?.flaky) this.#say(`second try: ${name}`)
    if (result.state === 'passed') return 'passed'
    if (result.state !== 'skipped') return 'failed'
    if (this.ctx.config.testNamePattern !== undefined) return 'skipped'
    const reason = result.note ?? (test.options.mode === 'run' ? 'a hook before it failed' : undefined)
    this.#say(`skipped: ${name}: ${reason ?? 'NO REASON GIVEN, so it counts as failed'}`)
    return reason === undefined ? 'failed' : 'skipped'
  }

  #say(line: string): void {
    this.log(stripVTControlCharacters(line))
  }
}
