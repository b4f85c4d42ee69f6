/** Parsed recording with the time of each event. */
export type Cast = {
  cols: number
  rows: number
  events: readonly CastEvent[]
  /** Time of the last event, in milliseconds. */
  durationMs: number
}
export type CastEvent =
  | { atMs: number; kind: 'output'; text: string }
  | { atMs: number; kind: 'size'; cols: number; rows: number }

/** Longest pause during playback. Longer pauses are shortened. */
const maxWaitMs = 2_000
const largest = 500

/**
 * Parses asciicast v2. Skips unreadable lines, because another program may have written to the file.
 * @returns undefined if the text is not a recording
 * @see https://docs.asciinema.org/manual/asciicast/v2/
 */
export function parseCast(text: string): Cast | undefined {
  const [first = '', ...lines] = text.split('\n')
  const header = parseJsonLine(first)
  if (typeof header !== 'object' || header === null || !('version' in header) || header.version !== 2) return undefined
  const { width, height } = header as { width?: unknown; height?: unknown }
  const events: CastEvent[] = []
  let lastMs = 0
  for (const line of lines) {
    const event = parseEvent(parseJsonLine(line), lastMs)
    if (!event) continue
    lastMs = event.atMs
    events.push(event)
  }
  return { cols: parseSize(width, 80), rows: parseSize(height, 24), events, durationMs: lastMs }
}

/** Limits pauses between events to two seconds. */
export function shortenWaits(cast: Cast): Cast {
  let beforeMs = 0
  let atMs = 0
  const events = cast.events.map((event) => {
    atMs += Math.min(maxWaitMs, event.atMs - beforeMs)
    beforeMs = event.atMs
    return { ...event, atMs }
  })
  return { ...cast, events, durationMs: atMs }
}

export function countEventsUntil({ events }: Pick<Cast, 'events'>, atMs: number): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((events[middle]?.atMs ?? 0) <= atMs) low = middle + 1
    else high = middle
  }
  return low
}

/** Formats a time such as `1:05` or `1:02:03`. */
export function formatClockTime(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const two = (count: number) => String(count).padStart(2, '0')
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

function parseEvent(value: unknown, lastMs: number): CastEvent | undefined {
  if (!Array.isArray(value)) return undefined
  const [at, code, data] = value as unknown[]
  if (typeof at !== 'number' || !Number.isFinite(at) || typeof data !== 'string') return undefined
  const atMs = Math.max(lastMs, at * 1000) // timestamps never decrease
  if (code === 'o') return { atMs, kind: 'output', text: data }
  const [, cols, rows] = code === 'r' ? (/^(\d{1,4})x(\d{1,4})$/.exec(data) ?? []) : []
  return cols && rows
    ? { atMs, kind: 'size', cols: parseSize(Number(cols), 80), rows: parseSize(Number(rows), 24) }
    : undefined
}

function parseSize(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? Math.min(value, largest) : fallback
}

function parseJsonLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined // not a recording
  }
}
