/**
 * Forms of the suite. `npm test -- --quick` runs the short list before a commit, `npm test` everything, and `npm run
 * test:all` everything in its long form, which repeats tests for other platforms and seeds.
 */
export const quickSuites: readonly (readonly string[])[] = [
  ['--project', 'unit'],
  ['--project', 'contract', 'test/contract/localContract.test.ts'],
]

const isLong = process.env.STEWARD_TEST_LONG === '1'

const short = {
  /** Number of simulated ledger histories over failing disks and networks. */
  ledgerHistories: 2_000,
  /** Platforms that the application is packaged for. The configuration of the others is compared in any case. */
  packagedPlatforms: ['linux'],
  /** Parts of the runtime contract that also run in a warm sandbox. */
  warmSandboxParts: ['machines', 'exec'],
  /** Whether an ordinary user tries each layer, and not only those that behave differently. */
  hasAllLayersOfUsers: false,
  /** Whether screens without another test are opened. */
  hasScreens: process.env.STEWARD_PICTURES === '1',
}

const long: typeof short = {
  ledgerHistories: 10_000,
  packagedPlatforms: ['linux', 'darwin', 'win32'],
  warmSandboxParts: ['machines', 'usage', 'processes', 'exec', 'terminals', 'ports', 'files', 'snapshots'],
  hasAllLayersOfUsers: true,
  hasScreens: true,
}

export const suiteForm = isLong ? long : short
/** Environment of `npm test` in the long form. */
export const longEnvironment = { STEWARD_TEST_LONG: '1' }
