import { AppError } from '#shared/appError.ts'

/** What a program takes: commands, and options that are flags or take a value. */
export type CommandLine = {
  /** `npm start --` */
  usage: string
  about: string
  commands: Readonly<Record<string, string>>
  /** Words that may follow a command, as its help names them: `['WHAT', 'NAME']`. */
  words?: Readonly<Record<string, readonly string[]>>
  options: Readonly<Record<string, CommandOption>>
}

/** `takes` names the value in the help: `HOST:PORT`. A `hidden` option is between our own programs. */
export type CommandOption = { takes?: string; about: string; hidden?: true }

export type Given = {
  command: string | undefined
  /** What follows the command. */
  words: readonly string[]
  /** Whether a flag stands there. */
  has(name: string): boolean
  value(name: string): string | undefined
}

/** How a program ends when it could not do its work: anything else is a crash. */
export const exitCodes = { usage: 2, failed: 3 } as const

/**
 * Reads `--name`, `--name value` and `--name=value`.
 * @throws AppError `command/usage` naming what is wrong
 */
export function parseCommandLine(
  { commands, words: allowed = {}, options }: CommandLine,
  parts: readonly string[],
): Given {
  const given = new Map<string, string>()
  const words: string[] = []
  let command: string | undefined
  const left = [...parts]
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    if (!part.startsWith('--')) {
      if (command !== undefined && words.length < (allowed[command]?.length ?? 0)) {
        words.push(part)
        continue
      }
      if (command !== undefined || !Object.hasOwn(commands, part)) throw usage(`${part} is no command.`)
      command = part
      continue
    }
    const [, name = '', inline] = /^--([^=]*)(?:=(.*))?$/s.exec(part) ?? []
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (!option) throw usage(`--${name} is no option.`)
    if (given.has(name)) throw usage(`--${name} stands twice.`)
    if (option.takes === undefined && inline !== undefined) throw usage(`--${name} takes no value.`)
    const value = option.takes === undefined ? '' : (inline ?? valueAfter(left))
    if (option.takes !== undefined && !value) throw usage(`--${name} needs ${option.takes}.`)
    given.set(name, value ?? '')
  }
  return { command, words, has: (name) => given.has(name), value: (name) => given.get(name) }
}

export function helpOf({ usage, about, commands, words = {}, options }: CommandLine): string {
  const rows = [
    ...Object.entries(commands).map(([name, says]): [string, string] => [
      [name, ...(words[name] ?? [])].join(' '),
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

/** What a person reads when a program cannot do its work: the sentence and what to do about it. */
export function failureText(failure: unknown): string {
  if (failure instanceof AppError) {
    const detail = failure.detail === undefined ? '' : ` ${failure.detail}`
    return `steward: ${failure.message}${detail} ${failure.hint}\n`
  }
  return `steward: ${failure instanceof Error ? (failure.stack ?? failure.message) : String(failure)}\n`
}

export function exitCodeOf(failure: unknown): number {
  const named = failure instanceof AppError && (failure.code === 'command/usage' || failure.code === 'config/invalid')
  return named ? exitCodes.usage : exitCodes.failed
}

function valueAfter(left: string[]): string | undefined {
  return left[0]?.startsWith('--') ? undefined : left.shift()
}

function usage(message: string): AppError {
  return new AppError('command/usage', message)
}
