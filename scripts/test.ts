/**
 * `npm test`: the build, then every suite of vitest, with the checks beside them; build and checks count as one test each.
 * The last line is always `N passed, N failed, N skipped`, and the exit code tells the same. `npm test -- ARGUMENTS`
 * passes them to vitest and leaves checks and build out: `npm test -- --project unit src/shared`. `npm test -- --quick`
 * runs the checks, the unit tests and one contract suite.
 */
import { buildStep, checkSteps, failedStepsBeside } from './steps.ts'
import { quickSuites } from './suiteForms.ts'
import { plainLine, reportLines, reportsTogether, type TestReport } from './testReport.ts'
import { laterRun, runTests } from './testRun.ts'

const parts = process.argv.slice(2)
const isQuick = parts.length === 1 && parts[0] === '--quick'
const steps = parts.length === 0 ? [buildStep, ...checkSteps] : isQuick ? checkSteps : []
const { failed, reports } = await (isQuick ? quick() : parts.length === 0 ? everything() : chosen())
const { counts, ...rest } = reportsTogether(reports)
const total = { ...counts, passed: counts.passed + steps.length - failed, failed: counts.failed + failed }
for (const line of [...reportLines({ counts, ...rest }), plainLine(total)]) process.stdout.write(`${line}\n`)
process.exitCode = total.failed === 0 && counts.passed > 0 ? 0 : 1

type Outcome = { failed: number; reports: TestReport[] }

async function chosen(): Promise<Outcome> {
  return { failed: 0, reports: [await runTests(parts)] }
}

/** Before a commit: checks, unit tests and one contract suite. */
async function quick(): Promise<Outcome> {
  const checks = failedStepsBeside(checkSteps)
  const reports: TestReport[] = []
  for (const suite of quickSuites) reports.push(await runTests(suite))
  return { failed: await checks, reports }
}

/**
 * Files that share a Steward and a browser run one after the other: two such rows, beside the suites that need neither.
 * Once unit and contract tests have ended, both halves of the integration tests run at once.
 */
async function everything(): Promise<Outcome> {
  const failedBuild = await failedStepsBeside([buildStep])
  const checks = failedStepsBeside(checkSteps)
  const rows = halves('e2e').map((parts) => laterRun(parts))
  const [first, second] = halves('integration')
  const reports = [await runTests(['--project', 'unit', '--project', 'contract'])]
  const rest = laterRun(second)
  reports.push(await runTests(first))
  for (const row of [...rows, rest]) reports.push(await row.shown())
  return { failed: failedBuild + (await checks), reports }
}

function halves(project: string): [string[], string[]] {
  const half = (shard: string) => ['--project', project, '--shard', shard]
  return [half('1/2'), half('2/2')]
}
