import { join } from 'node:path'
import { app } from 'electron'
import { startApp } from '#agent/compose/compose.ts'
import { readEnvironment } from '#config/config.ts'
import { readStartOptions, type StartOptions } from '#config/startOptions.ts'
import { formatCommandError, toExitCode } from '#platform/program/commandLine.ts'
import { handleEndSignals } from '#platform/program/endSignals.ts'
import { getBuiltFile, installFolder } from '#platform/program/programFile.ts'
import { createTimeSource } from '#platform/time/timeSource.ts'
import { type RunningApp, runDesktop } from '#shell/desktop.ts'

try {
  const options = readStartOptions(stripElectronArguments(process.argv, app.isPackaged), readEnvironment())
  handleEndSignals({ end: () => app.quit(), force: () => app.exit(1), now: Date.now })
  // Electron becomes ready only after this module has run, so nothing here may await it.
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
      process.stderr.write(formatCommandError(cause))
      return { text: formatCommandError(cause), exitCode: toExitCode(cause) }
    },
  })
} catch (cause) {
  process.stderr.write(formatCommandError(cause))
  app.exit(toExitCode(cause))
}

/** Removes the arguments before the application's: Chromium switches and, unless packaged, the application path. */
function stripElectronArguments(argv: readonly string[], isPackaged: boolean): string[] {
  const path = argv.findIndex((part, index) => index > 0 && !part.startsWith('-'))
  return argv.slice(isPackaged ? 1 : path + 1)
}

function warn(sentence: string): void {
  process.stderr.write(`steward: ${sentence}\n`)
}

/** The window has already used the one-time token of the URL. It is printed only for the port. */
function formatReadyLine({ json }: StartOptions, { serviceUrl }: RunningApp, url: string): string {
  return json ? `${JSON.stringify({ event: 'ready', url, service_url: serviceUrl })}\n` : 'Steward is open.\n'
}
