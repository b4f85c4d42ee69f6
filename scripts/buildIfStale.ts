import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { lockData } from '#platform/files/dataLock.ts'
import { AppError } from '#shared/appError.ts'
import { isBuilt } from './buildState.ts'

const root = resolve(import.meta.dirname, '..')
const waitMs = 10 * 60_000
const maxOutputCharacters = 8_000

/** Builds `out/` unless it was built from the current sources. Concurrent calls build once. */
export async function buildIfStale(): Promise<void> {
  if (isBuilt(root)) return
  mkdirSync(resolve(root, 'out'), { recursive: true })
  const lock = await lockData({ folder: resolve(root, 'out'), name: 'build.lock', program: 'A build', waitMs })
  try {
    if (isBuilt(root)) return
    process.stderr.write('Building Steward, because its sources changed…\n')
    await build()
  } finally {
    await lock.release()
  }
}

function build(): Promise<void> {
  const electronVite = resolve(root, 'node_modules', 'electron-vite', 'bin', 'electron-vite.js')
  return new Promise((resolveBuild, reject) => {
    const child = spawn(process.execPath, [electronVite, 'build', '--logLevel', 'warn'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    const keep = (bytes: Buffer) => {
      said = (said + bytes.toString('utf8')).slice(-maxOutputCharacters)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolveBuild()
      else reject(new AppError('internal/unexpected', 'The build failed.', { detail: said }))
    })
  })
}
