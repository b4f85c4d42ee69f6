import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

const settings = [
  'electron.vite.config.ts',
  'scripts/firstScreen.ts',
  'scripts/helperScripts.ts',
  'scripts/plainHttp.ts',
]
const sources = ['package.json', 'package-lock.json', ...settings]

/**
 * Whether `out/` was built from the sources as they are now: digests of them are written when a build ended well.
 * Files that nobody has touched since are not read: that takes longer than all else before the start.
 */
export function isBuilt(root: string): boolean {
  try {
    const [contents, changes] = readFileSync(stampOf(root), 'utf8').split('\n')
    const files = sourceFiles(root)
    return changes === changesOf(files) || contents === contentsOf(root, files)
  } catch {
    return false
  }
}

/** For the build itself: what it ends with counts for the sources it began with. */
export function buildMark(root: string) {
  let digests = ''
  return {
    begin(): void {
      rmSync(stampOf(root), { force: true })
      // Programs that end just now may still add to it.
      rmSync(compiledFolder(root), { recursive: true, force: true, maxRetries: 5 })
      const files = sourceFiles(root)
      digests = `${contentsOf(root, files)}\n${changesOf(files)}`
    },
    end(): void {
      mkdirSync(join(root, 'out'), { recursive: true })
      writeFileSync(stampOf(root), digests)
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

function contentsOf(root: string, files: readonly string[]): string {
  const digest = createHash('sha256')
  for (const file of files) {
    const content = readFileSync(file)
    digest.update(`${relative(root, file).split(sep).join('/')}\0${content.length}\0`).update(content)
  }
  return digest.digest('hex')
}

/** Of when each file was changed, which no program can set back. */
function changesOf(files: readonly string[]): string {
  const digest = createHash('sha256')
  for (const file of files) {
    const { size, ctimeMs } = statSync(file)
    digest.update(`${file}\0${size}\0${ctimeMs}\n`)
  }
  return digest.digest('hex')
}

/** Tests are no part of what is built. */
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
