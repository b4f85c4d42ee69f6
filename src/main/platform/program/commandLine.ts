import { AppError } from '#shared/appError.ts'

/** Commands and options of a program. An option is a flag or has a value. */
export type CommandLine = {
  /** Start of the usage line, such as `npm start --`. */
  usage: string
  about: string
  commands: Readonly<Record<string, string>>
  /** Positional arguments of a command, as named in the help: `['WHAT', 'NAME']`. */
  positionals?: Readonly<Record<string, readonly string[]>>
  options: Readonly<Record<string, CommandOption>>
}

/** `takes` names the value in the help, such as `HOST:PORT`. `hidden` options are internal. */
export type CommandOption = { takes?: string; about: string; hidden?: true }

export type ParsedCommand = {
  command: string | undefined
  /** Positional arguments after the command. */
  positionals: readonly string[]
  /** Whether the flag is present. */
  has(name: string): boolean
  value(name: string): string | undefined
}

/** Exit codes of expected errors. Any other nonzero code is a crash. */
export const exitCodes = { usage: 2, failed: 3 } as const

/** Parses `--name`, `--name value` and `--name=value`. @throws AppError `command/usage` with the reason */
export function parseCommandLine(
  { commands, positionals: allowed = {}, options }: CommandLine,
  parts: readonly string[],
): ParsedCommand {
  const values = new Map<string, string>()
  const positionals: string[] = []
  let command: string | undefined
  const remaining = [...parts]
  for (let part = remaining.shift(); part !== undefined; part = remaining.shift()) {
    if (!part.startsWith('--')) {
      if (command !== undefined && positionals.length < (allowed[command]?.length ?? 0)) {
        positionals.push(part)
        continue
      }
      if (command !== undefined || !Object.hasOwn(commands, part)) throw createUsageError(`Unknown command ${part}.`)
      command = part
      continue
    }
    const [, name = '', inline] = /^--([^=]*)(?:=(.*))?$/s.exec(part) ?? []
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (!option) throw createUsageError(`Unknown option --${name}.`)
    if (values.has(name)) throw createUsageError(`--${name} is set twice.`)
    if (option.takes === undefined && inline !== undefined) throw createUsageError(`--${name} does not take a value.`)
    const value = option.takes === undefined ? '' : (inline ?? requireValue(remaining))
    if (option.takes !== undefined && !value) throw createUsageError(`--${name} requires ${option.takes}.`)
    values.set(name, value ?? '')
  }
  return { command, positionals, has: (name) => values.has(name), value: (name) => values.get(name) }
}

export function formatHelp({ usage, about, commands, positionals = {}, options }: CommandLine): string {
  const rows = [
    ...Object.entries(commands).map(([name, says]): [string, string] => [
      [name, ...(positionals[name] ?? [])].join(' '),
      says,
    ]),
    ...Object.entries(options)
      .filter(([, option]) => !option.hidden)
      .map(([name, option]): [string, string] => [
        `--${name}${option.takes === undefined ? '' : ` ${option.takes}`}`,
        option.about,
      ]),
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const table = rows.map(([name, says]) => `  ${name.padEnd(width)}  ${says}`).join('\n')
  return `${about}\n\n${usage} [${Object.keys(commands).length > 0 ? 'command] [' : ''}options]\n\n${table}\n`
}

/** Formats an error for the terminal: message, detail and hint. */
export function formatCommandError(error: unknown): string {
  if (error instanceof AppError) {
    const detail = error.detail === undefined ? '' : ` ${error.detail}`
    return `steward: ${error.message}${detail} ${error.hint}\n`
  }
  return `steward: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`
}

export function toExitCode(error: unknown): number {
  const named = error instanceof AppError && (error.code === 'command/usage' || error.code === 'config/invalid')
  return named ? exitCodes.usage : exitCodes.failed
}

function requireValue(remaining: string[]): string | undefined {
  return remaining[0]?.startsWith('--') ? undefined : remaining.shift()
}

function createUsageError(message: string): AppError {
  return new AppError('command/usage', message)
}
