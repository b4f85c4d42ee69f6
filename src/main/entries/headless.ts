import { join } from 'node:path'
import { startApp } from '#agent/compose/compose.ts'
import { type Environment, loadConfig, readEnvironment } from '#config/config.ts'
import { headlessLine, readStartOptions, type StartOptions } from '#config/startOptions.ts'
import { requestFreshUrl } from '#platform/net/startSocket.ts'
import { openInBrowser, type RedirectPage } from '#platform/processes/openInBrowser.ts'
import { formatCommandError, formatHelp, toExitCode } from '#platform/program/commandLine.ts'
import { handleEndSignals } from '#platform/program/endSignals.ts'
import { version } from '#platform/program/version.ts'
import { createTimeSource } from '#platform/time/timeSource.ts'
import { AppError } from '#shared/appError.ts'

/**
 * Runs the application without a window. Serves the renderer to a browser until a signal stops it.
 * @returns the exit code of the program
 */
export async function runHeadless(options: StartOptions, environment: Environment): Promise<number> {
  try {
    await serveBrowser(options, environment)
    return 0
  } catch (error) {
    if (await openRunning(error, options, environment)) return 0
    process.stderr.write(formatCommandError(error))
    return toExitCode(error)
  }
}

/** Opens the running Steward of the data folder in the browser. @returns whether one is running */
async function openRunning(error: unknown, { dataFolder, json, open }: StartOptions, environment: Environment) {
  if (!(error instanceof AppError) || error.code !== 'data/in-use') return false
  const url = await requestFreshUrl(dataFolder)
  if (url === undefined) return false
  if (json) process.stdout.write(`${JSON.stringify({ event: 'running', url })}\n`)
  else process.stdout.write(`Steward is already running. Open it with this one-time address:\n\n  ${url}\n\n`)
  const { open_browser: mayOpen } = loadConfig({
    file: join(dataFolder, 'config.json'),
    required: false,
    environment,
  }).app
  // The page is not removed here: its link works once, and the running Steward expires it.
  if (open && mayOpen) await openInBrowser(url, environment)
  return true
}

async function serveBrowser(options: StartOptions, environment: Environment): Promise<void> {
  const app = await startApp({
    ...options,
    shell: 'browser',
    environment,
    warn,
    now: Date.now,
    time: createTimeSource(),
  })
  const ended = new Promise<void>((resolve) => {
    handleEndSignals({ end: () => resolve(), force: () => process.exit(1), now: Date.now })
  })
  let opening: Promise<RedirectPage> | undefined
  const closeOpening = async (): Promise<void> => (await opening)?.remove()
  const url = app.freshUrl(() => void closeOpening())
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ event: 'ready', url, service_url: app.serviceUrl })}\n`)
  } else {
    process.stdout.write(`Steward is ready. Open it once with this address:\n\n  ${url}\n\nPress Ctrl-C to stop it.\n`)
  }
  if (options.open && app.openBrowser) opening = openInBrowser(url, environment)
  await ended
  await closeOpening()
  await app.close()
}

function warn(sentence: string): void {
  process.stderr.write(`steward: ${sentence}\n`)
}

async function runProgram(parts: readonly string[]): Promise<number> {
  try {
    const options = readStartOptions(parts, readEnvironment())
    if (options.command === 'start') return await runHeadless(options, readEnvironment())
    if (options.command !== 'help' && options.command !== 'version') {
      throw new AppError(
        'command/usage',
        `${options.command} is not available here. Use \`npm start -- ${options.command}\`.`,
      )
    }
    process.stdout.write(options.command === 'help' ? formatHelp(headlessLine) : `${version}\n`)
    return 0
  } catch (error) {
    process.stderr.write(formatCommandError(error))
    return toExitCode(error)
  }
}

if (import.meta.main) process.exitCode = await runProgram(process.argv.slice(2))
