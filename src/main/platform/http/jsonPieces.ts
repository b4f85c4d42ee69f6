import { setImmediate } from 'node:timers/promises'

/** In UTF-16 units. Escapes make a piece up to six times as long. */
const pieceLength = 64 * 1024

/** Whether a direct member is a string of more than so many UTF-16 units. */
export function hasLongString(value: unknown, length: number): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype &&
    Object.values(value).some((member) => typeof member === 'string' && member.length > length)
  )
}

/**
 * The JSON text of an object with long strings, in pieces. Other requests are served between two of them, and no more
 * than one exists at a time.
 */
export async function* splitJson(value: Readonly<Record<string, unknown>>): AsyncGenerator<string> {
  let separator = '{'
  for (const [name, member] of Object.entries(value)) {
    const isLong = typeof member === 'string' && member.length > pieceLength
    const text = isLong ? '"' : JSON.stringify(member)
    if (text === undefined) continue
    yield `${separator}${JSON.stringify(name)}:${text}`
    separator = ','
    if (!isLong) continue
    for (const slice of sliceText(member)) {
      yield JSON.stringify(slice).slice(1, -1)
      await setImmediate()
    }
    yield '"'
  }
  yield separator === '{' ? '{}' : '}'
}

/** Cuts between characters: half of one would be escaped. */
function* sliceText(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const last = text.charCodeAt(start + pieceLength - 1)
    const end = start + pieceLength - (last >= 0xd800 && last <= 0xdbff ? 1 : 0)
    yield text.slice(start, end)
    start = end
  }
}
