/** Joins paths inside a sandbox, which are absolute and contain no `.` or `..`. */
export function joinPath(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`
}

export function getDirname(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

export function getBasename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Resolves a typed path. @returns undefined if it is invalid */
export function resolveTypedPath(text: string, from: string): string | undefined {
  const whole = text.startsWith('/') ? text : `${from}/${text}`
  const parts: string[] = []
  for (const part of whole.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return text.includes('\0') ? undefined : `/${parts.join('/')}`
}

/** Returns an unused name, such as `report 2.txt` if `report.txt` exists. */
export function findFreeName(name: string, existing: ReadonlySet<string>): string {
  const dot = name.lastIndexOf('.')
  const [stem, end] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  for (let number = 2; ; number++) {
    const other = `${stem} ${number}${end}`
    if (!existing.has(other)) return other
  }
}

const units = ['B', 'KB', 'MB', 'GB', 'TB']

export function formatSize(bytes: number): string {
  let value = bytes
  let unit = 0
  for (; value >= 1000 && unit < units.length - 1; unit++) value /= 1000
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}
