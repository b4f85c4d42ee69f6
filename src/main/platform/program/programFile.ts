import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Steward runs from source (`src/main/*.ts`, with the type stripping of Node.js) or built (`out/main/*.js`). A program
 * starts other programs and workers in the same form.
 */
const here = fileURLToPath(import.meta.url)
const fromSource = here.endsWith('.ts')
/** Folder of the programs: `src/main`, or `out/main`, which contains all chunks of the build. */
const programs = fromSource ? resolve(dirname(here), '..', '..') : dirname(here)

/**
 * @param source path of the program below `src/main`, without extension: `entries/service`,
 * `host/terminals/worker/screenWorker`
 */
export function getProgramFile(source: string): string {
  return fromSource ? join(programs, `${source}.ts`) : join(programs, `${source.slice(source.lastIndexOf('/') + 1)}.js`)
}

/** Folder that contains `package.json`, `resources/` and `out/`. */
export const installFolder = resolve(programs, '..', '..')

/** Returns the path of a build artifact: `renderer`, `preload/preload.cjs`. */
export function getBuiltFile(path: string): string {
  return join(installFolder, 'out', path)
}

/** Whether the program is in an asar archive, which is read-only. */
const isArchived = installFolder.endsWith('.asar')

/** Environment variables that enable the compile cache of Node.js for the build. */
export const compiledPrograms: Readonly<Record<string, string>> =
  fromSource || isArchived ? {} : { NODE_COMPILE_CACHE: getBuiltFile('compiled') }
