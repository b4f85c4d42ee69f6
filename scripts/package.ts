/**
 * `npm run package`: builds installers for this platform in `dist/`. Signing and disk images require the target
 * platform itself. `--dir` builds only the unpacked application. `--update-feed URL` sets the update address.
 * `--electron DIR` uses Electron binaries from a folder instead of downloading them.
 */
import { parseArgs } from 'node:util'
import { build, Platform } from 'electron-builder'
import { buildIfStale } from './buildIfStale.ts'
import { createPackagingConfig } from './packagingConfig.ts'

const { values } = parseArgs({
  options: {
    dir: { type: 'boolean', default: false },
    output: { type: 'string', default: 'dist' },
    electron: { type: 'string' },
    'update-feed': { type: 'string' },
  },
})

await buildIfStale()
try {
  const files = await build({
    targets: Platform.current().createTarget(values.dir ? 'dir' : null),
    publish: 'never',
    config: createPackagingConfig({
      outputFolder: values.output,
      electronFolder: values.electron,
      updateFeed: values['update-feed'],
    }),
  })
  for (const file of files) process.stdout.write(`${file}\n`)
} catch (error) {
  if (!isDownloadFailure(error)) throw error
  process.stderr.write(
    `Cannot download Electron (${error.message}). Connect this computer to the network, or use a local copy: npm run package -- --electron DIR\n`,
  )
  process.exitCode = 1
}

/** Whether a download failed. electron-builder uses got, whose errors carry the code of the failed connection. */
function isDownloadFailure(error: unknown): error is Error {
  return error instanceof Error && ['RequestError', 'TimeoutError', 'HTTPError'].includes(error.name)
}
