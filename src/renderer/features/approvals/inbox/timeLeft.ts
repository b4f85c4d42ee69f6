/** Formats the remaining time: `4 min left`, `45 s left`, `ends now`. */
export function formatTimeLeft(expiresAtMs: number, nowMs: number): string {
  const seconds = Math.ceil((expiresAtMs - nowMs) / 1000)
  if (seconds <= 0) return 'expiring'
  if (seconds < 60) return `${seconds} s left`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min left`
  return `${Math.floor(seconds / 3600)} h left`
}
