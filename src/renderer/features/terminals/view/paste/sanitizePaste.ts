/** Tab, line feed and carriage return are text. Other control characters may be commands to the program. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: removes these characters
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

/** Removes control characters from pasted text and normalizes line breaks to line feeds. */
export function sanitizePaste(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(controls, '')
}

/** Returns the lines that would run one after another. Ignores trailing line breaks. */
export function splitLines(text: string): string[] {
  return text.replace(/\n+$/, '').split('\n')
}

export function toOneLine(text: string): string {
  return splitLines(text)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')
}

/** Replaces line feeds with carriage returns, as sent by the Enter key. */
export function toTypedText(text: string): string {
  return text.replaceAll('\n', '\r')
}
