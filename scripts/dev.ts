/**
 * `npm run dev`: starts Steward, and rebuilds the interface whenever one of its files changes; reload the window to
 * see it. Other arguments go to `npm start`. Changes to the main processes apply at the next start.
 */
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { resolveConfig } from 'electron-vite'
import { build } from 'vite'
import { buildIfStale } from './buildIfStale.ts'

const root = resolve(import.meta.dirname, '..')

await buildIfStale()
const { config } = await resolveConfig({ root }, 'build')
const renderer = config?.renderer
if (!renderer) throw new Error('electron.vite.config.ts has no renderer.')
const watcher = await build({
  ...renderer,
  configFile: false,
  build: { ...renderer.build, watch: {}, emptyOutDir: false },
})
const steward = spawn(process.execPath, ['scripts/start.js', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => steward.kill(signal))
steward.once('close', (code) => {
  if ('close' in watcher) void watcher.close()
  process.exit(code ?? 1)
})
