import { defineConfig } from 'vitest/config'

type Suite = { name: string; include: string[]; testTimeout: number; order: number; maxWorkers: number; retry: number }

const suite = ({ name, include, testTimeout, order, maxWorkers, retry }: Suite) => ({
  test: {
    name,
    include,
    environment: 'node',
    testTimeout,
    hookTimeout: testTimeout,
    setupFiles: ['test/support/leakGuard.ts'],
    alias: { electron: new URL('./test/support/electronFake.ts', import.meta.url).pathname },
    pool: 'forks' as const,
    // One suite after the other: namespaces, browsers and PTYs of many files at once would only wait for each other.
    sequence: { groupOrder: order },
    maxWorkers,
    retry,
  },
})

export default defineConfig({
  test: {
    projects: [
      suite({
        name: 'unit',
        include: ['src/**/*.test.ts', 'src/**/*.test.tsx', 'scripts/**/*.test.ts'],
        testTimeout: 180_000,
        order: 1,
        maxWorkers: 2,
        retry: 0,
      }),
      suite({
        name: 'contract',
        include: ['test/contract/**/*.test.ts'],
        testTimeout: 180_000,
        order: 2,
        maxWorkers: 2,
        retry: 0,
      }),
      // A second try is for a starved processor only; the report names each test that needed it.
      suite({
        name: 'integration',
        include: ['test/integration/**/*.test.ts'],
        testTimeout: 240_000,
        order: 3,
        maxWorkers: 2,
        retry: 1,
      }),
      suite({
        name: 'e2e',
        include: ['test/e2e/**/*.test.ts'],
        testTimeout: 300_000,
        order: 4,
        maxWorkers: 1,
        retry: 1,
      }),
    ],
    teardownTimeout: 60_000,
    reporters: ['./test/support/plainReporter.ts'],
  },
})
