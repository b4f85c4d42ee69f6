import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'

/** What `out/` was built from: a digest of every source, written when a build ended well. */
const root = resolve(import.meta.dirname, '..')
const stamp = join(root, 'out', 'built-from')
const sources = ['src', 'package.json', 'package-lock.json', 'electron.vite.config.ts']

export function isBuilt(): boolean {
  try {
    return readFileSync(stamp, 'utf8') === sourceDigest()
  } catch {
    return false
  }
}

export function markStale(): void {
  rmSync(stamp, { force: true })
}

export function markBuilt(): void {
  mkdirSync(join(root, 'out'), { recursive: true })
  writeFileSync(stamp, sourceDigest())
}

function sourceDigest(): string {
  const digest = createHash('sha256')
  for (const file of sources.flatMap((it) => filesOf(join(root, it)))) {
    const content = readFileSync(file)
    digest.update(`${relative(root, file).split(sep).join('/')}\0${content.length}\0`).update(content)
  }
  return digest.digest('hex')
}

/** Tests are no part of what is built. */
function filesOf(path: string): string[] {
  if (/\.test\.tsx?$/.test(path)) return []
  try {
    return readdirSync(path)
      .sort()
      .flatMap((name) => filesOf(join(path, name)))
  } catch (failure) {
    if (failure instanceof Error && 'code' in failure && failure.code === 'ENOTDIR') return [path]
    throw failure
  }
}
