import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { RunningApp } from '#agent/compose/compose.ts'
import { runMcpRelay } from '#commands/mcpRelay.ts'
import { type Environment, readEnvironment } from '#config/config.ts'
import { resolvePaths } from '#config/startOptions.ts'
import { findLockHolder, type LockHolder } from '#platform/files/dataLock.ts'
import { createHttpClient } from '#platform/http/httpClient.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import {
  type CommandLine,
  formatCommandError,
  formatHelp,
  parseCommandLine,
  toExitCode,
} from '#platform/program/commandLine.ts'
import { handleEndSignals } from '#platform/program/endSignals.ts'
import { version } from '#platform/program/version.ts'
import { readSecretFile } from '#platform/secrets/secretFile.ts'
import { createTimeSource } from '#platform/time/timeSource.ts'
import { AppError } from '#shared/appError.ts'
import { StdioEndpoint, stdioEndpointFile, ToolProfile } from '#shared/contract/toolClients.ts'

const line: CommandLine = {
  usage: 'steward-mcp',
  about:
    'Serves the tools of Steward over MCP on stdin and stdout. Connects to the running Steward of the data folder, or starts one without a window until the client disconnects.',
  commands: {},
  options: {
    profile: { takes: 'NAME', about: `Set of tools: ${ToolProfile.options.join(', ')}` },
    data: { takes: 'DIR', about: "Data folder (default: the platform's data folder)" },
    config: { takes: 'FILE', about: 'Configuration file (default: config.json in the data folder)' },
    help: { about: 'Print this help' },
    version: { about: 'Print the version' },
  },
}

const startingMs = 30_000
const lookupIntervalMs = 100
const maxAnswerBytes = 64 * 1024 * 1024

/** @returns the exit code of the program */
export async function runMcpProgram(parts: readonly string[], environment: Environment): Promise<number> {
  const options = parseCommandLine(line, parts)
  if (options.has('help') || options.has('version')) {
    process.stdout.write(options.has('help') ? formatHelp(line) : `${version}\n`)
    return 0
  }
  const profile = parseProfile(options.value('profile'))
  const { dataFolder, config } = resolvePaths(options, environment)
  const http = createHttpClient({ maxAnswerBytes })
  let app: RunningApp | undefined
  handleEndSignals({ end: () => process.stdin.destroy(), force: () => process.exit(1), now: Date.now })

  /** Key of a tool client that the user created. Defaults to the built-in client. */
  const { STEWARD_MCP_KEY: key, ...ownEnvironment } = environment
  const present = (holder: LockHolder): StdioEndpoint | undefined => {
    const text = readSecretFile(join(dataFolder, stdioEndpointFile))
    const endpoint = text === undefined ? undefined : StdioEndpoint.safeParse(parseJsonOrUndefined(text)).data
    if (endpoint?.pid !== holder.pid) return undefined // stale file of an exited process
    return key === undefined || key === '' ? endpoint : { ...endpoint, key }
  }
  const findRunning = async (): Promise<StdioEndpoint | undefined> => {
    for (let remainingMs = startingMs; remainingMs > 0; remainingMs -= lookupIntervalMs) {
      const holder = await findLockHolder(dataFolder, 'steward.lock')
      if (!holder) return undefined
      const endpoint = present(holder)
      if (endpoint) return endpoint
      await wait(lookupIntervalMs) // Steward may still be starting
    }
    return undefined
  }
  const startSteward = async (): Promise<StdioEndpoint> => {
    const { startApp } = await import('#agent/compose/compose.ts')
    try {
      app = await startApp({
        dataFolder,
        config,
        listen: undefined,
        shell: 'browser',
        environment: ownEnvironment,
        now: Date.now,
        time: createTimeSource(),
      })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'data/in-use') throw error
    }
    const endpoint = await findRunning()
    if (!endpoint) throw new AppError('service/unavailable', "Steward started but isn't responding.")
    return endpoint
  }
  let credential: Promise<StdioEndpoint> | undefined
  const endpoint = async (again: boolean): Promise<StdioEndpoint> => {
    if (again) credential = undefined
    credential ??= findRunning().then((it) => it ?? startSteward())
    try {
      return await credential
    } catch (error) {
      credential = undefined
      throw error
    }
  }

  try {
    await runMcpRelay({ input: process.stdin, output: process.stdout, http, endpoint, profile })
  } finally {
    http.close()
    await app?.close()
  }
  return 0
}

function parseProfile(text: string | undefined): ToolProfile | undefined {
  if (text === undefined) return undefined
  const profile = ToolProfile.safeParse(text).data
  if (profile) return profile
  throw new AppError('command/usage', `--profile must be one of ${ToolProfile.options.join(', ')}, not ${text}.`)
}

/** Entry point, shared with `scripts/mcp.js`. */
export async function runMcp(parts: readonly string[]): Promise<void> {
  try {
    process.exitCode = await runMcpProgram(parts, readEnvironment())
  } catch (error) {
    process.stderr.write(formatCommandError(error))
    process.exitCode = toExitCode(error)
  }
}

if (import.meta.main) await runMcp(process.argv.slice(2))
