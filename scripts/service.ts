/** `npm run service`: builds the pages of terminal links when sources changed, then runs the service alone. */
import { resolve } from 'node:path'
import { failureText } from '#platform/commandLine.ts'
import { isBuilt } from './buildState.ts'

const root = resolve(import.meta.dirname, '..')
const onlyTells = process.argv.slice(2).some((part) => part === '--help' || part === '--version')

if (!onlyTells && !isBuilt(root)) await buildPages()
await import('#entries/service.ts')

/** Where the tools to build are not installed, everything but these pages works. */
async function buildPages(): Promise<void> {
  try {
    const { buildIfStale } = await import('./buildIfStale.ts')
    await buildIfStale()
  } catch (failure) {
    process.stderr.write(`${failureText(failure)}Terminal links have no page.\n`)
  }
}
