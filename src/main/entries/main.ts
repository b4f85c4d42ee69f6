import { join } from 'node:path'
import { app } from 'electron'
import { startApp } from '#agent/compose/compose.ts'
import { readEnvironment } from '#config/config.ts'
import { readStartOptions, type StartOptions } from '#config/startOptions.ts'
import { formatFailure, toExitCode } from '#platform/commandLine.ts'
import { handleEndSignals } from '#platform/endSignals.ts'
import { getBuiltFile, installFolder } from '#platform/programFile.ts'
import { createTimeSource } from '#platform/timeSource.ts'
import { type RunningApp, runDesktop } from '#shell/desktop.ts'

try {
  const options = readStartOptions(stripElectronArguments(process.argv, app.isPackaged), readEnvironment())
  handleEndSignals({ end: () => app.quit(), force: () => app.exit(1), now: Date.now })
  // Electron is ready only after this module has run: nothing here may wait for it.
  void runDesktop({
    dataFolder: options.dataFolder,
    preloadFile: getBuiltFile('preload/preload.cjs'),
    iconFile: join(installFolder, 'resources', 'icon.png'),
    start: (dialog) =>
      startApp({
        ...options,
        shell: 'electron',
        dialog,
        environment: readEnvironment(),
        warn,
        now: Date.now,
        time: createTimeSource(),
      }),
    onReady: (app, url) => process.stdout.write(formatReadyLine(options, app, url)),
    failure(cause) {
      process.stderr.write(formatFailure(cause))
      return { text: formatFailure(cause), exitCode: toExitCode(cause) }
    },
  })
} catch (cause) {
  process.stderr.write(formatFailure(cause))
  app.exit(toExitCode(cause))
}

/** Before the application's own come Chromium's switches and, unless packaged, the path of the application. */
function stripElectronArguments(argv: readonly string[], isPackaged: boolean): string[] {
  const path = argv.findIndex((part, index) => index > 0 && !part.startsWith('-'))
  return argv.slice(isPackaged ? 1 : path + 1)
}

function warn(sentence: string): void {
  process.stderr.write(`steward: ${sentence}\n`)
}

/** The address in it was used by the window: it is there to tell the port. */
function formatReadyLine({ json }: StartOptions, { serviceUrl }: RunningApp, url: string): string {
  return json ? `${JSON.stringify({ event: 'ready', url, service_url: serviceUrl })}\n` : 'Steward is open.\n'
}
