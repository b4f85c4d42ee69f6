/**
 * Variants of the suite. `npm test -- --quick` runs the short list before a commit, `npm test` runs everything, and
 * `npm run test:all` runs everything in its long form, which repeats tests for other platforms and seeds.
 */
export const quickSuites: readonly (readonly string[])[] = [
  ['--project', 'unit'],
  ['--project', 'contract', 'test/contract/localContract.test.ts'],
]

const isLong = process.env.STEWARD_TEST_LONG === '1'

const short = {
  /** Number of simulated ledger histories with failing disks and networks. */
  ledgerHistories: 2_000,
  /** Platforms for which the application is packaged. The configurations of the other platforms are always compared. */
  packagedPlatforms: ['linux'],
  /** Parts of the runtime contract that also run in a warm sandbox. */
  warmSandboxParts: ['machines', 'exec'],
  /** Whether every layer is tested as an ordinary user, and not only the layers that behave differently. */
  hasAllLayersOfUsers: false,
  /** Whether to open screens that have no other test. */
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
