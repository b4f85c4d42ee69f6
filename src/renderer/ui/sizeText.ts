/** Formats a size such as `512 B`, `3.4 MB` or `1.2 GB`, with at most three digits. */
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
