/**
 * `npm test`: runs the build, then every vitest suite with the checks in parallel. Build and checks count as one test
 * each. The last line is `N passed, N failed, N skipped`, and the exit code matches it. `npm test -- ARGUMENTS` passes
 * the arguments to vitest and skips build and checks: `npm test -- --project unit src/shared`. `npm test -- --quick`
 * runs the checks, the unit tests and one contract suite.
 */
import { buildStep, checkSteps, runStepsAtLowPriority } from './steps.ts'
import { quickSuites } from './suiteForms.ts'
import { countTests, formatReport, joinReports, plainLine, replaceFiles, type TestReport } from './testReport.ts'
import { runTests, startBufferedRun } from './testRun.ts'

/** More failed files than this indicate a real defect rather than starvation. */
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

async function runQuickSuite(): Promise<Outcome> {
  const checks = runStepsAtLowPriority(checkSteps)
  const reports: TestReport[] = []
  for (const suite of quickSuites) reports.push(await runTests(suite))
  return { failed: await checks, reports }
}

/**
 * Runs every suite. Files that share a Steward and a browser run in parallel with the suites that need neither. Those
 * suites run in two parts, because on two processors more parallel runs starve each other.
 */
async function runWholeSuite(): Promise<Outcome> {
  const failedBuild = await runStepsAtLowPriority([buildStep])
  const checks = runStepsAtLowPriority(checkSteps)
  const e2e = startBufferedRun(['--project', 'e2e'])
  const reports = [await runTests(['--project', 'unit'])]
  reports.push(await runTests(['--project', 'contract', '--project', 'integration']))
  reports.push(await e2e.print())
  const failedSteps = failedBuild + (await checks)
  return { failed: failedSteps, reports: [await repeatFailedFiles(joinReports(reports))] }
}

/**
 * Reruns failed files sequentially with nothing else running, because on a shared computer other load can starve a test
 * past every deadline. Unit tests have no deadlines and are not repeated.
 */
async function repeatFailedFiles(first: TestReport): Promise<TestReport> {
  const failed = first.files.filter(({ counts, suite }) => counts.failed > 0 && suite !== 'unit')
  if (failed.length === 0 || failed.length > maxRepeatedFiles) return first
  const suites = [...new Set(failed.map(({ suite }) => suite))].flatMap((suite) => ['--project', suite])
  return replaceFiles(first, await runTests([...suites, '--no-file-parallelism', ...failed.map(({ name }) => name)]))
}
