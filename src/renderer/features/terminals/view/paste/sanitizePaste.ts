/** Tab, line feed and carriage return are text; every other control character could be a command to the program. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

/** Removes from foreign text what must not be typed; lines end with line feeds. */
export function sanitizePaste(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(controls, '')
}

/** The lines that would run one by one. The end of the last one counts for none. */
export function splitLines(text: string): string[] {
  return text.replace(/\n+$/, '').split('\n')
}

export function toOneLine(text: string): string {
  return splitLines(text)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')
}

/** As Enter types it. */
export function toTypedText(text: string): string {
  return text.replaceAll('\n', '\r')
}
