import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { getDefaultDataFolder } from '#platform/files/dataFolder.ts'
import { parseListen } from '#platform/net/listenAddress.ts'
import { type CommandLine, type ParsedCommand, parseCommandLine } from '#platform/program/commandLine.ts'
import { AppError } from '#shared/appError.ts'
import type { Environment } from './config.ts'

/** Command line of `npm start`, with a window or in the browser. */
export const startLine: CommandLine = {
  usage: 'npm start --',
  about: 'Starts Steward in a window, or in the browser if Electron cannot run.',
  commands: {
    doctor: 'Reports what this computer supports and what is missing',
    stop: 'Stops Steward and all sandboxes in its data folder',
    image: 'Manages images for sandboxes: `add NAME`, `remove NAME` or `list`',
    rdap: 'Updates the list of RDAP servers from IANA or from URL',
    verify: 'Verifies an activity export in JSON Lines',
    backup: 'Copies the data folder to DIR, even while Steward runs',
    restore: 'Replaces the data folder with the backup in DIR and renames the previous one',
  },
  positionals: { image: ['WHAT', 'NAME'], rdap: ['URL'], verify: ['FILE'], backup: ['DIR'], restore: ['DIR'] },
  options: {
    browser: { about: 'Use the browser even if Electron can run' },
    'no-open': { about: 'Print the address without opening a browser' },
    listen: {
      takes: 'HOST:PORT',
      about: 'Address of the interface (default: 127.0.0.1 and a free port, which is reused)',
    },
    data: { takes: 'DIR', about: "Data folder (default: the platform's data folder)" },
    config: { takes: 'FILE', about: 'Configuration file (default: config.json in the data folder)' },
    from: {
      takes: 'FILE',
      about: 'image add: an archive from docker save or a similar tool, or `system` for this distribution',
    },
    packages: { takes: 'A,B', about: 'image add: packages of this distribution to install on top of the base system' },
    json: { about: 'Print one line of JSON when ready' },
    help: { about: 'Print this help' },
    version: { about: 'Print the version' },
  },
}

/** Command line of the packaged application without a window. Has the same commands as `npm start`. */
export const headlessLine: CommandLine = {
  usage: 'node out/main/headless.js',
  about: 'Starts Steward in the browser.',
  commands: {},
  options: pick(startLine.options, ['no-open', 'listen', 'data', 'config', 'json', 'help', 'version']),
}

/** Command line of the service, which is started by users or the application. */
export const serviceLine: CommandLine = {
  usage: 'npm run service --',
  about: 'Runs the Steward service without the application.',
  commands: { database: 'Copies the database of a stopped service: `copy` with --to-url-file' },
  positionals: { database: ['WHAT'] },
  options: {
    listen: {
      takes: 'HOST:PORT',
      about: 'Address of the service (default: 127.0.0.1 and a free port, which is reused)',
    },
    data: { takes: 'DIR', about: "Data folder (default: the platform's data folder)" },
    config: { takes: 'FILE', about: 'Configuration file (default: config.json in the data folder)' },
    'insecure-behind-proxy': { about: 'Listen beyond loopback without TLS, because a proxy in front adds it' },
    'to-url-file': { takes: 'FILE', about: 'database copy: file with the URL of an empty PostgreSQL database' },
    json: { about: 'Print one line of JSON when ready' },
    supervised: { about: 'Exit when the application closes stdin', hidden: true },
    again: { about: 'Restart after an earlier run: use another port if the previous one is in use', hidden: true },
    help: { about: 'Print this help' },
    version: { about: 'Print the version' },
  },
}

function pick(options: CommandLine['options'], names: readonly string[]): CommandLine['options'] {
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name)))
}

const otherCommands = ['doctor', 'stop', 'image', 'rdap', 'verify', 'backup', 'restore'] as const

export type StartOptions = {
  command: 'start' | (typeof otherCommands)[number] | 'help' | 'version'
  /** Path of the export, for the command `verify`. */
  verify: string | undefined
  /** Path of the backup, for the commands `backup` and `restore`. */
  folder: string | undefined
  /** URL of the list, for the command `rdap`. */
  rdap: string | undefined
  /** Unvalidated arguments of the command `image`; see `imageOrder.ts`. */
  image: ImageArguments | undefined
  browser: boolean
  open: boolean
  json: boolean
  /** Value of `--listen`. Defaults to the configuration. */
  listen: string | undefined
  dataFolder: string
  config: ConfigFile
}

export type ImageArguments = { positionals: readonly string[]; from: string | undefined; packages: string | undefined }

/** `required`: the file was passed as an option and must exist. The file in the data folder is optional. */
export type ConfigFile = { file: string; required: boolean }

/** @throws AppError `command/usage` */
export function readStartOptions(parts: readonly string[], environment: Environment): StartOptions {
  const parsed = parseCommandLine(startLine, parts)
  const { dataFolder, config } = resolvePaths(parsed, environment)
  const listen = parsed.value('listen')
  if (listen !== undefined && !parseListen(listen)) throw createWrongListenError(listen)
  return {
    command: parseCommand(parsed.command, parsed.has('help'), parsed.has('version')),
    verify: parsed.command === 'verify' ? readFileArgument(parsed) : undefined,
    folder: parsed.command === 'backup' || parsed.command === 'restore' ? readFileArgument(parsed) : undefined,
    rdap: parsed.command === 'rdap' ? parsed.positionals[0] : undefined,
    image: parseImageArguments(parsed),
    browser: parsed.has('browser'),
    open: !parsed.has('no-open'),
    json: parsed.has('json'),
    listen,
    dataFolder,
    config,
  }
}

/** Resolves the data folder and the configuration file from `--data` and `--config`. */
export function resolvePaths(options: { value(name: string): string | undefined }, environment: Environment) {
  const data = options.value('data')
  const file = options.value('config')
  const dataFolder =
    data === undefined
      ? getDefaultDataFolder({ platform: process.platform, home: homedir(), environment })
      : resolve(data)
  const config = {
    file: file === undefined ? join(dataFolder, 'config.json') : resolve(file),
    required: file !== undefined,
  }
  return { dataFolder, config }
}

export function createWrongListenError(listen: string): AppError {
  return new AppError('command/usage', `--listen ${listen} is not valid. Use HOST:PORT, as in 127.0.0.1:8080.`)
}

function parseCommand(command: string | undefined, help: boolean, version: boolean): StartOptions['command'] {
  if (help) return 'help'
  if (version) return 'version'
  return otherCommands.find((it) => it === command) ?? 'start'
}

/** Resolves the path relative to the working directory. */
function readFileArgument({ positionals: [file] }: ParsedCommand): string | undefined {
  return file === undefined ? undefined : resolve(file)
}

function parseImageArguments(parsed: ParsedCommand): ImageArguments | undefined {
  if (parsed.has('help') || parsed.has('version')) return undefined
  const { positionals } = parsed
  const [from, packages] = [parsed.value('from'), parsed.value('packages')]
  if (positionals[0] !== 'add' && (from ?? packages) !== undefined) {
    throw new AppError('command/usage', '--from and --packages require `image add`.')
  }
  return parsed.command === 'image' ? { positionals, from, packages } : undefined
}
