import { defineConfig } from 'vitest/config'

const suite = (name: string, include: string[], testTimeout: number) => ({
  test: {
    name,
    include,
    environment: 'node',
    testTimeout,
    hookTimeout: testTimeout,
    teardownTimeout: 60_000,
    setupFiles: ['test/support/leakGuard.ts'],
    alias: { electron: new URL('./test/support/electronFake.ts', import.meta.url).pathname },
    pool: 'forks' as const,
  },
})

export default defineConfig({
  test: {
    projects: [
      suite('unit', ['src/**/*.test.ts', 'src/**/*.test.tsx', 'scripts/**/*.test.ts'], 60_000),
      suite('contract', ['test/contract/**/*.test.ts'], 180_000),
      suite('integration', ['test/integration/**/*.test.ts'], 240_000),
      suite('e2e', ['test/e2e/**/*.test.ts'], 300_000),
    ],
    // Namespaces, browsers and PTYs of several files at once would only wait for each other.
    fileParallelism: true,
    maxWorkers: 2,
    reporters: ['./test/support/plainReporter.ts'],
  },
})
