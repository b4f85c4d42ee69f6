import { setImmediate } from 'node:timers/promises'

/** Length in UTF-16 units. Escapes make a chunk up to six times as long. */
const chunkLength = 64 * 1024

/** Whether a direct member is a string longer than `length` UTF-16 units. */
export function hasLongString(value: unknown, length: number): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype &&
    Object.values(value).some((member) => typeof member === 'string' && member.length > length)
  )
}

/**
 * Serializes an object with long strings to JSON in chunks. Other requests are served between chunks, and only one
 * chunk exists at a time.
 */
export async function* serializeJsonChunks(value: Readonly<Record<string, unknown>>): AsyncGenerator<string> {
  let separator = '{'
  for (const [name, member] of Object.entries(value)) {
    const isLong = typeof member === 'string' && member.length > chunkLength
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

/** Splits between characters, because half of a surrogate pair would be escaped. */
function* sliceText(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const last = text.charCodeAt(start + chunkLength - 1)
    const end = start + chunkLength - (last >= 0xd800 && last <= 0xdbff ? 1 : 0)
    yield text.slice(start, end)
    start = end
  }
}
