const minute = 60
const hour = 60 * minute
const day = 24 * hour

/**
 * Formats an uptime such as `41s`, `12m`, `3h 05m` or `6d 4h`, with at most two units so that values in a column are
 * comparable.
 */
export function formatUptime(startedAtMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - startedAtMs) / 1000))
  if (seconds < minute) return `${seconds}s`
  if (seconds < hour) return `${Math.floor(seconds / minute)}m`
  if (seconds < day) return `${Math.floor(seconds / hour)}h ${padTwoDigits(Math.floor((seconds % hour) / minute))}m`
  return `${Math.floor(seconds / day)}d ${Math.floor((seconds % day) / hour)}h`
}

function padTwoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
