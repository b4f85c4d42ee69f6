import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Steward runs from its sources (`src/main/*.ts`, by Node's own type stripping) and built (`out/main/*.js`).
 * A program starts the others, and its workers, in the form it runs in itself.
 */
const here = fileURLToPath(import.meta.url)
const fromSource = here.endsWith('.ts')
/** The folder of the programs: `src/main`, or `out/main`, where the build puts every chunk. */
const programs = fromSource ? resolve(dirname(here), '..') : dirname(here)

/** @param source the program's path below `src/main`, without ending: `entries/service`, `host/terminals/screenWorker` */
export function getProgramFile(source: string): string {
  return fromSource ? join(programs, `${source}.ts`) : join(programs, `${source.slice(source.lastIndexOf('/') + 1)}.js`)
}

/** The folder that holds `package.json`, `resources/` and `out/`. */
export const installFolder = resolve(programs, '..', '..')

/** Returns the path of a build artifact: `renderer`, `preload/preload.cjs`. */
export function getBuiltFile(path: string): string {
  return join(installFolder, 'out', path)
}

/** Whether everything lies in one archive of a package, in which nothing can be written. */
const isArchived = installFolder.endsWith('.asar')

/** For the environment of our programs: what Node has compiled of the build once, it then reads from beside it. */
export const compiledPrograms: Readonly<Record<string, string>> =
  fromSource || isArchived ? {} : { NODE_COMPILE_CACHE: getBuiltFile('compiled') }
