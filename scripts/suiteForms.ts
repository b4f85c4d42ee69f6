/**
 * Forms of the suite. `npm test -- --quick` runs the short list before a commit, `npm test` everything, and
 * `npm run test:all` everything in its long form, which repeats what other machines and seeds would show.
 */
export const quickSuites: readonly (readonly string[])[] = [
  ['--project', 'unit'],
  ['--project', 'contract', 'test/contract/localContract.test.ts'],
]

const isLong = process.env.STEWARD_TEST_LONG === '1'

const short = {
  /** Histories of the ledger over failing disks and networks. */
  ledgerHistories: 2_000,
  /** Platforms that the application is packaged for. The data of the others is compared in any case. */
  packagedPlatforms: ['linux'],
  /** Parts of the runtime contract that run in a machine that was started as a spare. */
  spareParts: ['machines', 'exec'],
  /** Whether an ordinary user tries each layer, and not only those that work differently for one. */
  hasAllLayersOfUsers: false,
  /** Whether screens that nothing else shows are opened. */
  hasScreens: process.env.STEWARD_PICTURES === '1',
}

const long: typeof short = {
  ledgerHistories: 10_000,
  packagedPlatforms: ['linux', 'darwin', 'win32'],
  spareParts: ['machines', 'usage', 'processes', 'exec', 'terminals', 'ports', 'files', 'snapshots'],
  hasAllLayersOfUsers: true,
  hasScreens: true,
}

export const suiteForm = isLong ? long : short
/** Environment of `npm test` for the long form. */
export const longEnvironment = { STEWARD_TEST_LONG: '1' }
