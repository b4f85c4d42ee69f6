/**
 * `npm test`: the build, then every suite of vitest, with the checks beside them; build and checks count as one test each.
 * The last line is always `N passed, N failed, N skipped`, and the exit code tells the same. `npm test -- ARGUMENTS`
 * hands them to vitest and leaves checks and build out: `npm test -- --project unit src/shared`.
 */
import { buildStep, checkSteps, failedStepsBeside } from './steps.ts'
import { plainLine, reportLines, reportsTogether } from './testReport.ts'
import { laterRun, runTests } from './testRun.ts'

const asked = process.argv.slice(2)
const steps = asked.length === 0 ? [buildStep, ...checkSteps] : []
const { failed, reports } = asked.length === 0 ? await everything() : { failed: 0, reports: [await runTests(asked)] }
const { counts, ...rest } = reportsTogether(reports)
const total = { ...counts, passed: counts.passed + steps.length - failed, failed: counts.failed + failed }
for (const line of [...reportLines({ counts, ...rest }), plainLine(total)]) process.stdout.write(`${line}\n`)
process.exitCode = total.failed === 0 && counts.passed > 0 ? 0 : 1

/** Files that share a Steward and a browser go one after the other: two such rows, beside the suites that need neither. */
async function everything() {
  const failedBuild = await failedStepsBeside([buildStep])
  const checks = failedStepsBeside(checkSteps)
  const rows = ['1/2', '2/2'].map((shard) => laterRun(['--project', 'e2e', '--shard', shard]))
  const reports = [await runTests(['--project', '!e2e'])]
  for (const row of rows) reports.push(await row.shown())
  return { failed: failedBuild + (await checks), reports }
}
