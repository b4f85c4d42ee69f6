/**
 * Adds the optional platform packages that npm omits from package-lock.json (npm/cli#9846). `npm ci` rejects the lock
 * without them. Run after every `npm install`: `node scripts/completeLock.ts`.
 */
import { readFile, writeFile } from 'node:fs/promises'

type LockedPackage = {
  version?: string
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  engines?: Record<string, string>
  optionalDependencies?: Record<string, string>
  dev?: boolean
}

const path = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(await readFile(path, 'utf8')) as { packages: Record<string, LockedPackage> }

const missing: { path: string; name: string; range: string; dev: boolean }[] = []
for (const [owner, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if (!isResolvable(owner, name)) missing.push({ path: `node_modules/${name}`, name, range, dev: entry.dev === true })
  }
}

for (const { path, name, range, dev } of missing) {
  lock.packages[path] = {
    version: range.replace(/^[^0-9]*/, ''),
    ...readPlatform(name),
    ...(dev && { dev }),
    optional: true,
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
await writeFile(path, `${JSON.stringify(lock, null, 2)}\n`)
process.stdout.write(`${missing.length} optional packages added\n`)

/** Whether Node resolves the package from its owner. Searches beside the owner, then in every parent folder. */
function isResolvable(owner: string, name: string): boolean {
  for (let folder = owner; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    if (lock.packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`]) return true
    if (folder === '') return false
    if (!folder.includes('/node_modules/')) folder = ''
    if (folder === '') return lock.packages[`node_modules/${name}`] !== undefined
  }
}

/** Reads the platform from a package name such as `@biomejs/cli-linux-x64-musl`. */
function readPlatform(name: string): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> {
  const parts = name.replace('windows', 'win32').split(/[-/@_.]/)
  const filterParts = (names: readonly string[]) => parts.filter((it) => names.includes(it))
  const os = filterParts([
    'aix',
    'android',
    'darwin',
    'freebsd',
    'linux',
    'linuxmusl',
    'netbsd',
    'openbsd',
    'openharmony',
    'sunos',
    'win32',
  ])
  const cpu = filterParts(['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'])
  return {
    ...(os.length > 0 && { os: os.map((it) => it.replace('linuxmusl', 'linux')) }),
    ...(cpu.length > 0 && { cpu }),
  }
}
