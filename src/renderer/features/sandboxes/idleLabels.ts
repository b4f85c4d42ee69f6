const presets = [null, 15, 30, 60, 240, 1440] as const

/** Formats the idle time after which a sandbox stops: `Never`, `After 30 minutes`, `After 4 hours`. */
export function formatIdle(minutes: number | null): string {
  if (minutes === null) return 'Never'
  const [count, unit] =
    minutes % 1440 === 0 ? [minutes / 1440, 'day'] : minutes % 60 === 0 ? [minutes / 60, 'hour'] : [minutes, 'minute']
  return `After ${count} ${unit}${count === 1 ? '' : 's'}`
}

/** Returns the choices: presets and the current value. */
export function listIdleChoices(present: number | null): (number | null)[] {
  const all = presets.some((it) => it === present) ? [...presets] : [...presets, present]
  return all.sort((a, b) => (a ?? 0) - (b ?? 0))
}
