/**
 * `npm test`: the build, then every vitest suite, with the checks beside them; build and checks count as one test
 * each. The last line is `N passed, N failed, N skipped`, and the exit code follows. `npm test -- ARGUMENTS` passes
 * them to vitest and leaves out build and checks: `npm test -- --project unit src/shared`. `npm test -- --quick` runs
 * the checks, the unit tests and one contract suite.
 */
import { buildStep, checkSteps, runStepsAtLowPriority } from './steps.ts'
import { quickSuites } from './suiteForms.ts'
import { countTests, formatReport, joinReports, plainLine, replaceFiles, type TestReport } from './testReport.ts'
import { runTests, startBufferedRun } from './testRun.ts'

/** More failed files than this are not starved: something is broken. */
const maxRepeatedFiles = 10

const parts = process.argv.slice(2)
const isQuick = parts.length === 1 && parts[0] === '--quick'
const steps = parts.length === 0 ? [buildStep, ...checkSteps] : isQuick ? checkSteps : []
const { failed, reports } = await (isQuick ? runQuickSuite() : parts.length === 0 ? runWholeSuite() : runChosenTests())
const report = joinReports(reports)
const counts = countTests(report)
const total = { ...counts, passed: counts.passed + steps.length - failed, failed: counts.failed + failed }
for (const line of [...formatReport(report), plainLine(total)]) process.stdout.write(`${line}\n`)
process.exitCode = total.failed === 0 && counts.passed > 0 ? 0 : 1

type Outcome = { failed: number; reports: TestReport[] }

async function runChosenTests(): Promise<Outcome> {
  return { failed: 0, reports: [await runTests(parts)] }
}

/** Runs checks, unit tests and one contract suite, for use before a commit. */
async function runQuickSuite(): Promise<Outcome> {
  const checks = runStepsAtLowPriority(checkSteps)
  const reports: TestReport[] = []
  for (const suite of quickSuites) reports.push(await runTests(suite))
  return { failed: await checks, reports }
}

/**
 * Runs every suite. Files that share a Steward and a browser run one after the other, beside the suites that need
 * neither. Those run one after the other: more at once starve each other on two processors.
 */
async function runWholeSuite(): Promise<Outcome> {
  const failedBuild = await runStepsAtLowPriority([buildStep])
  const checks = runStepsAtLowPriority(checkSteps)
  const e2e = startBufferedRun(['--project', 'e2e'])
  const reports = [await runTests(['--project', 'unit', '--project', 'contract'])]
  reports.push(await runTests(['--project', 'integration']))
  reports.push(await e2e.print())
  const failedSteps = failedBuild + (await checks)
  return { failed: failedSteps, reports: [await repeatFailedFiles(joinReports(reports))] }
}

/**
 * Runs failed files again, one after the other and with nothing beside them: a machine that is shared with others can
 * starve a test past every deadline. Unit tests wait for nothing and are not repeated.
 */
async function repeatFailedFiles(first: TestReport): Promise<TestReport> {
  const failed = first.files.filter(({ counts, suite }) => counts.failed > 0 && suite !== 'unit')
  if (failed.length === 0 || failed.length > maxRepeatedFiles) return first
  const suites = [...new Set(failed.map(({ suite }) => suite))].flatMap((suite) => ['--project', suite])
  return replaceFiles(first, await runTests([...suites, '--no-file-parallelism', ...failed.map(({ name }) => name)]))
}
