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

/**
 * Files that share a Steward and a browser go one after the other: two such rows, beside the suites that need neither. The
 * second half of the longest of those begins when a row has ended: no processor waits for what others wait for.
 */
async function everything() {
  const failedBuild = await failedStepsBeside([buildStep])
  const checks = failedStepsBeside(checkSteps)
  const rows = halves('e2e').map((parts) => laterRun(parts))
  const [first, second] = halves('integration')
  const rest = Promise.race(rows.map(({ ended }) => ended)).then(() => laterRun(second))
  const reports = [await runTests(['--project', 'unit', '--project', 'contract']), await runTests(first)]
  for (const row of [...rows, await rest]) reports.push(await row.shown())
  return { failed: failedBuild + (await checks), reports }
}

function halves(project: string): [string[], string[]] {
  const half = (shard: string) => ['--project', project, '--shard', shard]
  return [half('1/2'), half('2/2')]
}
