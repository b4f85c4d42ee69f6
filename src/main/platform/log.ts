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

type LogOptions = { write: (line: string) => void; now: () => number; level: LogLevel; area?: string }

const severity: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }

export function jsonLog(options: LogOptions): Log {
  const entry =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (severity[level] < severity[options.level]) return
      const at = new Date(options.now()).toISOString()
      options.write(`${JSON.stringify({ at, level, area: options.area, message, ...readable(fields) })}\n`)
    }
  return {
    debug: entry('debug'),
    info: entry('info'),
    warn: entry('warn'),
    error: entry('error'),
    of: (area) => jsonLog({ ...options, area }),
  }
}

export const silentLog: Log = jsonLog({ write: () => {}, now: () => 0, level: 'error' })

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
