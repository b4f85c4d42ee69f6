import type { IncomingHttpHeaders } from 'node:http'

/** Range from the first byte to `end`, exclusive. `unsatisfiable` if it is outside the file. */
export type ByteRange = { from: number; end: number; partial: boolean } | 'unsatisfiable'

/**
 * Returns the whole file unless the header contains exactly one range.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-14.2
 */
export function parseRange(headers: IncomingHttpHeaders, { size, etag }: { size: number; etag: string }): ByteRange {
  const all = { from: 0, end: size, partial: false }
  const { range, 'if-range': ifRange } = headers
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return all
  if (ifRange !== undefined && ifRange !== etag) return all
  if (first === '') return Number(last) === 0 || size === 0 ? 'unsatisfiable' : within(size - Number(last), size, size)
  if (last !== '' && Number(last) < Number(first)) return all
  return Number(first) >= size ? 'unsatisfiable' : within(Number(first), last === '' ? size : Number(last) + 1, size)
}

function within(from: number, end: number, size: number): ByteRange {
  return { from: Math.max(0, from), end: Math.min(size, end), partial: true }
}
