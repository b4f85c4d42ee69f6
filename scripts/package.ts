/**
 * `npm run package`: installers of this platform in `dist/`. On a machine of each platform, since signing and disk
 * images need it. `--dir` makes the unpacked application only, `--update-feed URL` is where installed copies ask for
 * newer ones, `--electron DIR` takes Electron's binaries from there instead of downloading them.
 */
import { parseArgs } from 'node:util'
import { build, Platform } from 'electron-builder'
import { buildIfStale } from './buildIfStale.ts'
import { packagingConfig } from './packagingConfig.ts'

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
    config: packagingConfig({
      outputFolder: values.output,
      electronFolder: values.electron,
      updateFeed: values['update-feed'],
    }),
  })
  for (const file of files) process.stdout.write(`${file}\n`)
} catch (failure) {
  if (!isDownloadFailure(failure)) throw failure
  process.stderr.write(
    `The files of Electron cannot be downloaded (${failure.message}). Connect this machine to the network, or name a folder that has them: npm run package -- --electron DIR\n`,
  )
  process.exitCode = 1
}

/** electron-builder downloads with got, whose errors carry the code of the failed connection. */
function isDownloadFailure(failure: unknown): failure is Error {
  return failure instanceof Error && ['RequestError', 'TimeoutError', 'HTTPError'].includes(failure.name)
}
