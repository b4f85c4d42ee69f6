/** `npm run service`: builds the pages for terminal links if sources changed, then runs only the service. */
import { resolve } from 'node:path'
import { formatCommandError } from '#platform/program/commandLine.ts'
import { isBuilt } from './buildState.ts'

const root = resolve(import.meta.dirname, '..')
const onlyTells = process.argv.slice(2).some((part) => part === '--help' || part === '--version')

if (!onlyTells && !isBuilt(root)) await buildPages()
await import('#entries/service.ts')

/** Builds the pages if the build tools are installed. All other features work without the pages. */
async function buildPages(): Promise<void> {
  try {
    const { buildIfStale } = await import('./buildIfStale.ts')
    await buildIfStale()
  } catch (error) {
    process.stderr.write(`${formatCommandError(error)}Terminal links will have no page.\n`)
  }
}
