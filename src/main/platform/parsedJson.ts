/** Undefined when it is not JSON. The parser's own error would quote the text, which may be a secret. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
