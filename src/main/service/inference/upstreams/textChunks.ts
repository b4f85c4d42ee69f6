/**
 * Most chunks of a stream of chat completions are the one before them with another text. Such a one needs no parser: what
 * stands before and behind its text is the same to the byte, and in the text nothing is escaped.
 */
export function textChunks() {
  let before: string | undefined
  let behind = ''
  return {
    /** What stands before the text of chunks that are alike, and behind it. */
    around: () => ({ before: before ?? '', behind }),
    /** @returns undefined for a chunk that must be parsed */
    textOf(data: string): string | undefined {
      if (before === undefined || data.length <= before.length + behind.length) return undefined
      if (!data.startsWith(before) || !data.endsWith(behind)) return undefined
      const text = data.slice(before.length, data.length - behind.length)
      return plain.test(text) ? text : undefined
    },
    /** @param data a chunk that was parsed, and has one text and nothing else */
    learn(data: string): void {
      const begin = data.indexOf(mark) + mark.length
      const end = data.indexOf('"', begin)
      if (begin < mark.length || data[end + 1] !== '}' || data.lastIndexOf(mark) + mark.length !== begin) return
      before = data.slice(0, begin)
      behind = data.slice(end)
    },
  }
}

const mark = '"delta":{"content":"'
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them escaped, or is none
const plain = /^[^"\\\u0000-\u001f]+$/
