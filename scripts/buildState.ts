import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

const settings = ['electron.vite.config.ts', 'scripts/firstScreen.ts', 'scripts/plainHttp.ts']
const sources = ['src', 'package.json', 'package-lock.json', ...settings]

/** Whether `out/` was built from the sources as they are now: a digest of them is written when a build ended well. */
export function isBuilt(root: string): boolean {
  try {
    return readFileSync(stampOf(root), 'utf8') === sourceDigest(root)
  } catch {
    return false
  }
}

/** For the build itself: what it ends with counts for the sources it began with. */
export function buildMark(root: string) {
  let digest = ''
  return {
    begin(): void {
      rmSync(stampOf(root), { force: true })
      // Programs that end just now may still add to it.
      rmSync(compiledFolder(root), { recursive: true, force: true, maxRetries: 5 })
      digest = sourceDigest(root)
    },
    end(): void {
      mkdirSync(join(root, 'out'), { recursive: true })
      writeFileSync(stampOf(root), digest)
    },
  }
}

/** Where Node keeps what it compiled of the programs: `scripts/start.js` and `programFile.ts` name it too. */
function compiledFolder(root: string): string {
  return join(root, 'out', 'compiled')
}

function stampOf(root: string): string {
  return join(root, 'out', 'built-from')
}

function sourceDigest(root: string): string {
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
