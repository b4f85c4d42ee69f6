import type { Plugin } from 'vite'

/**
 * Escapes all characters beyond ASCII in chunks: V8 stores a source with one of them in twice the memory. Chunks are
 * minified, so they appear in literals only, where an escape has the same value.
 */
export function asciiOutput(): Plugin {
  return {
    name: 'ascii-output',
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === 'chunk') chunk.code = escapeNonAscii(chunk.code)
      }
    },
  }
}

/** Escapes each UTF-16 code unit beyond ASCII. @throws Error where one follows a backslash, which would escape the escape */
export function escapeNonAscii(code: string): string {
  const escaped = /(?<!\\)(?:\\\\)*\\[^\0-\x7f]/.exec(code)
  if (escaped) throw new Error(`A backslash stands before a character beyond ASCII: ${escaped[0]}`)
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
