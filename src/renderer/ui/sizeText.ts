/** `512 B`, `3.4 MB`, `1.2 GB`: three digits at most. */
export function formatSize(bytes: number): string {
  let value = bytes
  let unit = 'B'
  for (const next of ['kB', 'MB', 'GB', 'TB']) {
    if (value < 999.5) break
    value /= 1024
    unit = next
  }
  return `${value >= 99.5 || unit === 'B' ? Math.round(value) : Number(value.toPrecision(2))} ${unit}`
}
