import { type RepeatedEntries, repeatedEntries } from './repeatedEntries.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Writes one JSON line per entry. Secrets are never passed to it: it does not search for them. */
export type Log = {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** The same log with `area` on every line. */
  of(area: string): Log
}

export type LogFields = Record<string, unknown>

/** How a failure is told in the log: of one that says that there is no room or nobody there, where it arose tells nothing. */
export function loggedFailure(failure: Error & { code: string; status: number }): unknown {
  const { code, message, status } = failure
  return status === 500 ? failure : { code, message }
}

type LogOptions = { write: (line: string) => void; now: () => number; level: LogLevel; area?: string }

const severity: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }

/** An entry like so many of the last minute is only counted: who makes calls fail must not fill a disk with it. */
export function jsonLog(options: LogOptions): Log {
  return entriesOf({ ...options, repeats: repeatedEntries(options.now) })
}

function entriesOf(options: LogOptions & { repeats: RepeatedEntries }): Log {
  const entry =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (severity[level] < severity[options.level]) return
      const told = options.repeats.told(`${level} ${options.area} ${message} ${failureOf(fields)}`)
      if (!told) return
      const at = new Date(options.now()).toISOString()
      const repeated = told.unwritten > 0 ? { unwritten: told.unwritten } : {}
      options.write(`${JSON.stringify({ at, level, area: options.area, message, ...repeated, ...readable(fields) })}\n`)
    }
  return {
    debug: entry('debug'),
    info: entry('info'),
    warn: entry('warn'),
    error: entry('error'),
    of: (area) => entriesOf({ ...options, area }),
  }
}

export const silentLog: Log = jsonLog({ write: () => {}, now: () => 0, level: 'error' })

function failureOf({ failure }: LogFields): string {
  return failure instanceof Error ? failure.message : (JSON.stringify(failure) ?? '')
}

/** Errors have no enumerable fields: without this they would be logged as `{}`. */
function readable(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? describeError(value) : value]),
  )
}

function describeError(error: Error): LogFields {
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    ...('code' in error && { code: error.code }),
    ...(error.cause instanceof Error && { cause: describeError(error.cause) }),
  }
}
