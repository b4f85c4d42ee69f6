/** Suggests a free name, such as `atlas-2`, if the name is in use. @returns undefined if the name is free */
export function suggestName(written: string, names: readonly string[]): string | undefined {
  const name = written.trim()
  if (!names.includes(name)) return undefined
  const stem = name.replace(/-\d{1,4}$/, '')
  for (let number = 2; ; number++) {
    const other = `${stem}-${number}`
    if (!names.includes(other)) return other
  }
}

/** Returns the names used by more than one sandbox. */
export function findDuplicates(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.filter((name, place) => names.indexOf(name) !== place))
}
