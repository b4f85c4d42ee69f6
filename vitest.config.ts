import { defineConfig } from 'vitest/config'
import { suiteForm } from './scripts/suiteForms.ts'
import { LongestFirstSequencer } from './test/support/runner/longestFirstSequencer.ts'

type Suite = {
  name: string
  include: string[]
  exclude?: string[]
  testTimeout: number
  retry: number
  /** Suites of one order run at once, with as many workers for all of them together. */
  order: number
  maxWorkers: number
  globalSetup?: string[]
  /** What the files of a worker share. */
  shared?: string[]
}

const suite = ({ order, shared = [], ...given }: Suite) => ({
  test: {
    ...given,
    environment: 'node',
    hookTimeout: given.testTimeout,
    setupFiles: [...shared, 'test/support/runner/leakGuard.ts'],
    alias: { electron: new URL('./test/support/fakes/fakeElectron.ts', import.meta.url).pathname },
    pool: 'forks' as const,
    // Files of a worker share its modules, so that each is read once; leakGuard.ts finds the file that leaves something.
    isolate: false,
    sequence: { groupOrder: order },
    // Of a file whose tests say that they may run at once.
    maxConcurrency: 3,
  },
})

/** Retries of a test that starved on a busy machine. The report names each test that needed one. */
const starvedRetries = 1

/** Bound by the processor: a worker for each of two. */
const processorBound = { order: 1, maxWorkers: 2 }
/** Bound by waiting for processes, namespaces and containers. */
const waitingBound = { order: 2, maxWorkers: 4 }
/** Bound by waiting for pages. The files of a worker run sequentially, because they share a Steward and a browser. */
const pageBound = {
  order: 3,
  maxWorkers: 2,
  globalSetup: ['test/support/runner/sharedSteward.ts'],
  shared: ['test/support/runner/openSharedBrowser.ts'],
}

export default defineConfig({
  test: {
    projects: [
      suite({
        name: 'unit',
        include: ['src/**/*.test.ts', 'src/**/*.test.tsx', 'scripts/**/*.test.ts'],
        testTimeout: 180_000,
        retry: 0,
        ...processorBound,
      }),
      suite({
        name: 'contract',
        include: ['test/contract/**/*.test.ts'],
        testTimeout: 180_000,
        retry: starvedRetries,
        ...waitingBound,
      }),
      suite({
        name: 'integration',
        include: ['test/integration/**/*.test.ts'],
        testTimeout: 480_000,
        retry: starvedRetries,
        ...waitingBound,
      }),
      suite({
        name: 'e2e',
        include: ['test/e2e/**/*.test.ts'],
        exclude: suiteForm.hasScreens ? [] : ['test/e2e/screens.test.ts'],
        testTimeout: 300_000,
        retry: starvedRetries,
        ...pageBound,
      }),
    ],
    sequence: { sequencer: LongestFirstSequencer },
    teardownTimeout: 120_000,
    reporters: ['./test/support/runner/plainReporter.ts'],
  },
})
