/** Consecutive chunks that differ only in their texts. */
export type TextRun = {
  /** Frames as sent by the provider. */
  frames: string
  /** All texts, concatenated. */
  text: string
}

/**
 * Reads similar chunks without a JSON parser. Most chunks of a chat completion equal the previous one except for their
 * text: prefix and suffix match byte for byte, and the text contains no escapes.
 */
export function createTextChunks() {
  let before: string | undefined
  let after = ''
  /** Text before, after and between the texts of frames. */
  let frame = { begin: '', end: '', joint: '' }
  return {
    /** Text before and after the content of similar chunks. */
    after: () => ({ before: before ?? '', behind: after }),
    /** @returns undefined for a chunk that must be parsed */
    readText(data: string): string | undefined {
      if (before === undefined || data.length <= before.length + after.length) return undefined
      if (!data.startsWith(before) || !data.endsWith(after)) return undefined
      const text = data.slice(before.length, data.length - after.length)
      return plain.test(text) ? text : undefined
    },
    /** Reads the complete events at this position that need no parser. @returns undefined if the first one needs it */
    runIn(text: string, from: number): TextRun | undefined {
      const { begin, end, joint } = frame
      if (before === undefined || !text.startsWith(begin, from)) return undefined
      const texts: string[] = []
      let whole = from
      for (let offset = from + begin.length; ; offset = whole + begin.length) {
        const quote = text.indexOf('"', offset)
        // V8 compares a slice eight characters at a time, but `startsWith` one by one.
        const goesOn = quote >= 0 && text.slice(quote, quote + joint.length) === joint
        if (!goesOn && (quote < 0 || !text.startsWith(end, quote))) break
        const piece = text.slice(offset, quote)
        if (!plain.test(piece)) break
        texts.push(piece)
        whole = quote + end.length
        if (!goesOn) break
      }
      return texts.length > 0 ? { frames: text.slice(from, whole), text: texts.join('') } : undefined
    },
    /** @param data a parsed chunk that contains one text and nothing else */
    learn(data: string): void {
      const begin = data.indexOf(mark) + mark.length
      const end = data.indexOf('"', begin)
      if (begin < mark.length || data[end + 1] !== '}' || data.lastIndexOf(mark) + mark.length !== begin) return
      before = data.slice(0, begin)
      after = data.slice(end)
      frame = { begin: `data: ${before}`, end: `${after}\n\n`, joint: `${after}\n\ndata: ${before}` }
    },
  }
}

const mark = '"delta":{"content":"'
// biome-ignore lint/suspicious/noControlCharactersInRegex: unescaped control characters are invalid in JSON
const plain = /^[^"\\\u0000-\u001f]+$/
