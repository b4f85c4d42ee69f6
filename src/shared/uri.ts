/**
 * URI grammar. The platform's `URL` accepts and repairs many invalid URIs:
 * https://www.rfc-editor.org/rfc/rfc3986#appendix-A
 */

const pathCharacter = "(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})"
const nameCharacter = "(?:[A-Za-z0-9\\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})"
const authority = `(?:(?:${nameCharacter}|:)*@)?(?:\\[([0-9A-Fa-f:.]+|[vV][0-9A-Fa-f]+\\.[^\\[\\]]+)\\]|${nameCharacter}*)(?::\\d*)?`
const absolutePath = `/(?:${pathCharacter}+(?:/${pathCharacter}*)*)?`
const rootlessPath = `${pathCharacter}+(?:/${pathCharacter}*)*`
const afterScheme = `(?://${authority}(?:/${pathCharacter}*)*|${absolutePath}|${rootlessPath}|)`
const extra = `(?:${pathCharacter}|[/?])*`
const uri = new RegExp(`^[A-Za-z][A-Za-z0-9+.-]*:${afterScheme}(?:\\?${extra})?(?:#${extra})?$`)
const pathCharacters = new RegExp(`^${pathCharacter}*$`)

export function isUri(text: string): boolean {
  const match = uri.exec(text)
  const literal = match?.[1]
  return match !== null && (literal === undefined || isIpLiteral(literal))
}

/** Whether the text is a path segment: `*pchar`. */
export function isPathCharacters(text: string): boolean {
  return pathCharacters.test(text)
}

function isIpLiteral(text: string): boolean {
  if (/^v/i.test(text)) return /^v[0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+$/i.test(text)
  const halves = text.split('::')
  const groups = halves.map(countGroups)
  const count = groups.reduce((sum, it) => sum + it, 0)
  if (Number.isNaN(count) || halves.length > 2) return false
  // Only the last group may be an IPv4 address.
  if (halves.length === 2 && halves[0]?.includes('.')) return false
  return halves.length === 1 ? count === 8 : count <= 7
}

/** Counts 16-bit groups. Returns `NaN` for malformed text. */
function countGroups(half: string): number {
  if (half === '') return 0
  const parts = half.split(':')
  const last = parts.at(-1) ?? ''
  const embedded = isIpv4(last)
  const plain = embedded ? parts.slice(0, -1) : parts
  if (!plain.every((part) => /^[0-9A-Fa-f]{1,4}$/.test(part))) return Number.NaN
  return plain.length + (embedded ? 2 : 0)
}

function isIpv4(text: string): boolean {
  return /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}$/.test(text) && !text.endsWith('.')
}
