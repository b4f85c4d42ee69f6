import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { hasDisplay } from '#platform/processes/openInBrowser.ts'

type Environment = Readonly<Record<string, string | undefined>>
type SandboxInstance = { platform: NodeJS.Platform; uid: number | undefined; environment: Environment }

const folder = resolve(import.meta.dirname, '..', 'node_modules', 'electron')
const fetchMs = 5 * 60_000

/** @returns the reason why this computer cannot show a window, as the end of a sentence, or undefined if it can */
export function findWindowObstacle({ platform, uid, environment }: SandboxInstance): string | undefined {
  if (platform !== 'linux') return undefined
  if (!hasDisplay(environment)) return 'no display (neither DISPLAY nor WAYLAND_DISPLAY is set)'
  if (uid === 0) return 'Electron has no sandbox when running as root'
  return undefined
}

/** Returns the path of the Electron binary if it is installed. Importing `electron` would download it. */
export function findElectronBinary(environment: Environment): string | undefined {
  const pathFile = resolve(folder, 'path.txt')
  const name = existsSync(pathFile) ? readFileSync(pathFile, 'utf8').trim() : undefined
  const override = environment.ELECTRON_OVERRIDE_DIST_PATH
  if (override !== undefined) return existing(resolve(override, name ?? 'electron'))
  return name === undefined ? undefined : existing(resolve(folder, 'dist', name))
}

/**
 * Downloads the Electron binary (about 100 MB) at the first start that can show a window, because `npm install` skips
 * it.
 */
export function fetchElectron(environment: Environment): string | undefined {
  if (environment.ELECTRON_SKIP_BINARY_DOWNLOAD) return undefined
  process.stderr.write('Downloading Electron (only once)…\n')
  spawnSync(process.execPath, [resolve(folder, 'install.js')], { stdio: 'ignore', timeout: fetchMs })
  return findElectronBinary(environment)
}

function existing(path: string): string | undefined {
  return existsSync(path) ? path : undefined
}
