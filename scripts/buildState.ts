import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

const settings = [
  'electron.vite.config.ts',
  'scripts/preloadFirstScreen.ts',
  'scripts/copyHelperScripts.ts',
  'scripts/requirePlainHttp.ts',
]
const sources = ['package.json', 'package-lock.json', ...settings]

/**
 * Whether `out/` was built from the current sources, compared by the digests stored after each successful build. Skips
 * files with an unchanged modification time, because reading them all takes longer than the rest of startup.
 */
export function isBuilt(root: string): boolean {
  try {
    const [contents, changes] = readFileSync(getStampPath(root), 'utf8').split('\n')
    const files = sourceFiles(root)
    return changes === hashModificationTimes(files) || contents === hashContents(root, files)
  } catch {
    return false
  }
}

/** Records the sources at the start of a build and stores their digests when it ends. */
export function buildMark(root: string) {
  let digests = ''
  return {
    begin(): void {
      rmSync(getStampPath(root), { force: true })
      // Retries, because exiting programs may still write into the folder.
      rmSync(getCompileCacheFolder(root), { recursive: true, force: true, maxRetries: 5 })
      const files = sourceFiles(root)
      digests = `${hashContents(root, files)}\n${hashModificationTimes(files)}`
    },
    end(): void {
      mkdirSync(join(root, 'out'), { recursive: true })
      writeFileSync(getStampPath(root), digests)
    },
  }
}

/** Path of Node's compile cache for the programs. `scripts/start.js` and `programFile.ts` use the same path. */
function getCompileCacheFolder(root: string): string {
  return join(root, 'out', 'compiled')
}

function getStampPath(root: string): string {
  return join(root, 'out', 'built-from')
}

function hashContents(root: string, files: readonly string[]): string {
  const digest = createHash('sha256')
  for (const file of files) {
    const content = readFileSync(file)
    digest.update(`${relative(root, file).split(sep).join('/')}\0${content.length}\0`).update(content)
  }
  return digest.digest('hex')
}

/** Hashes the change time (ctime) of each file, because programs cannot set it back. */
function hashModificationTimes(files: readonly string[]): string {
  const digest = createHash('sha256')
  for (const file of files) {
    const { size, ctimeMs } = statSync(file)
    digest.update(`${file}\0${size}\0${ctimeMs}\n`)
  }
  return digest.digest('hex')
}

/** Lists the files that are part of the build, which excludes tests. */
function sourceFiles(root: string): string[] {
  const files = [...filesBelow(join(root, 'src')), ...sources.map((it) => join(root, it))]
  return files.filter((file) => !/\.test\.tsx?$/.test(file)).sort()
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}
