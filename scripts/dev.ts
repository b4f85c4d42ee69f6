/**
 * `npm run dev`: starts Steward and rebuilds the interface whenever one of its files changes. Reload the window to see
 * the change. Other arguments are passed to `npm start`. Changes to the main processes apply at the next start.
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
  logLevel: 'warn',
  build: { ...renderer.build, watch: {}, emptyOutDir: false },
})
if (!('close' in watcher)) throw new Error('The build did not start watching files.')
// Waits for the first build, because an edit before its end would be missed.
await new Promise<void>((resolveFirst, reject) => {
  watcher.on('event', (event) => {
    if (event.code === 'END') {
      process.stderr.write('Built the interface.\n')
      resolveFirst()
    } else if (event.code === 'ERROR') {
      process.stderr.write(`Building the interface failed: ${event.error.message}\n`)
      reject(event.error)
    }
  })
})
const steward = spawn(process.execPath, ['scripts/start.js', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => steward.kill(signal))
steward.once('close', (code) => {
  void watcher.close()
  process.exit(code ?? 1)
})
