type RepeatedEntries = {
  /** Returns undefined to suppress the entry; otherwise the number of entries suppressed since the last written one. */
  recordEntry(entry: string): { unwritten: number } | undefined
}

const repetitionWindowMs = 60_000
const maxEntriesPerWindow = 20
/** Maximum number of distinct entries tracked. The oldest is evicted first. */
const maxEntryKinds = 500

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Log that writes one JSON line per entry. Callers must not pass secrets, because the log does not redact them. */
export type Log = {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Returns a logger that adds `area` to every line. */
  forArea(area: string): Log
}

export type LogFields = Record<string, unknown>

/** Converts an error for the log. Omits the stack of overload and not-found errors. */
export function toLoggedError(error: Error & { code: string; status: number }): unknown {
  const { code, message, status } = error
  return status === 500 ? error : { code, message }
}

type LogOptions = { write: (line: string) => void; now: () => number; level: LogLevel; area?: string }

const severity: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }

/**
 * Creates a log that suppresses repeated entries within a minute and counts them, so that a client that causes errors
 * cannot fill the disk.
 */
export function createJsonLog(options: LogOptions): Log {
  return createLog({ ...options, repeats: createRepeatedEntries(options.now) })
}

function createLog(options: LogOptions & { repeats: RepeatedEntries }): Log {
  const entry =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (severity[level] < severity[options.level]) return
      const repeat = options.repeats.recordEntry(`${level} ${options.area} ${message} ${getErrorText(fields)}`)
      if (!repeat) return
      const time = new Date(options.now()).toISOString()
      const repeated = repeat.unwritten > 0 ? { unwritten: repeat.unwritten } : {}
      options.write(
        `${JSON.stringify({ at: time, level, area: options.area, message, ...repeated, ...toReadable(fields) })}\n`,
      )
    }
  return {
    debug: entry('debug'),
    info: entry('info'),
    warn: entry('warn'),
    error: entry('error'),
    forArea: (area) => createLog({ ...options, area }),
  }
}

export const silentLog: Log = createJsonLog({ write: () => {}, now: () => 0, level: 'error' })

function getErrorText({ error }: LogFields): string {
  return error instanceof Error ? error.message : (JSON.stringify(error) ?? '')
}

/** Converts errors, whose fields are not enumerable and would be logged as `{}`. */
function toReadable(fields: LogFields): LogFields {
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

function createRepeatedEntries(now: () => number): RepeatedEntries {
  const kinds = new Map<string, { sinceMs: number; count: number }>()
  return {
    recordEntry(entry) {
      const present = kinds.get(entry)
      if (present && now() - present.sinceMs < repetitionWindowMs) {
        present.count += 1
        return present.count <= maxEntriesPerWindow ? { unwritten: 0 } : undefined
      }
      kinds.delete(entry)
      kinds.set(entry, { sinceMs: now(), count: 1 })
      const [oldest] = kinds.keys()
      if (kinds.size > maxEntryKinds && oldest !== undefined) kinds.delete(oldest)
      return { unwritten: Math.max(0, (present?.count ?? 0) - maxEntriesPerWindow) }
    },
  }
}
