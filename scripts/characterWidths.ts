/**
 * Writes `src/shared/characterWidthRanges.ts`, the number of terminal cells per character. Programs in sandboxes call
 * `wcwidth` of the C library, so its widths take precedence (glibc 2.36 of Debian 12). Characters that it does not
 * define use the width from Node's Unicode version. Run on Debian 12: `node scripts/characterWidths.ts`.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

const question = `
import ctypes, sys
libc = ctypes.CDLL("libc.so.6")
libc.setlocale.restype = ctypes.c_char_p
libc.gnu_get_libc_version.restype = ctypes.c_char_p
assert libc.setlocale(6, b"C.UTF-8")
print(libc.gnu_get_libc_version().decode())
print("".join(str(libc.wcwidth(ctypes.c_uint32(it)) + 1) for it in range(0x110000)))
`

/**
 * Reads the width of each code point from this computer's C library. The width is -1 for control and undefined
 * characters.
 */
export function readLibraryWidths(): { version: string; getWidth: (codePoint: number) => number } {
  const answer = execFileSync('python3', ['-c', question], { encoding: 'utf8', maxBuffer: 4 * 1024 * 1024 })
  const [version = '', digits = ''] = answer.split('\n')
  return { version, getWidth: (codePoint) => Number(digits[codePoint]) - 1 }
}

const controls = /^[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]$/u
const marks = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const ideographs = /^[\p{Ideographic}\p{Script=Hiragana}\p{Script=Katakana}\u2ff0-\u2fff\u31c0-\u31ef]$/u
const emoji = /^\p{Emoji_Presentation}$/u

function isWide(codePoint: number, character: string): boolean {
  // The block for new emoji and planes 2 and 3 (ideographs), including unassigned code points:
  // https://www.unicode.org/reports/tr11/#ED7
  if ((codePoint >= 0x1fa70 && codePoint < 0x1fb00) || (codePoint >= 0x20000 && codePoint < 0x3fffe)) return true
  return emoji.test(character) || ideographs.test(character)
}

function resolveWidth(codePoint: number, libraryWidth: number): number {
  if (libraryWidth >= 0) return libraryWidth
  const character = String.fromCodePoint(codePoint)
  if (controls.test(character)) return codePoint < 0x2028 ? 0 : 1
  if (marks.test(character)) return 0
  return isWide(codePoint, character) ? 2 : 1
}

function formatRanges(width: number, widths: readonly number[]): string {
  const bounds: number[] = []
  for (const [codePoint, cells] of widths.entries()) {
    if ((cells === width) !== (codePoint > 0 && widths[codePoint - 1] === width)) bounds.push(codePoint)
  }
  const pairs = bounds.map((it) => `0x${it.toString(16)}`)
  return pairs.join(', ')
}

function write(): void {
  const { version, getWidth: getLibraryWidth } = readLibraryWidths()
  const widths = Array.from({ length: 0x110000 }, (_, codePoint) => resolveWidth(codePoint, getLibraryWidth(codePoint)))
  const text = `/**
 * Written by \`scripts/characterWidths.ts\` from glibc ${version} and Unicode ${process.versions.unicode}. Code points by turns: the first that has
 * this width, then the first that has it no longer. All others take one cell.
 */

// biome-ignore format: a table
export const noCells: readonly number[] = [
  ${formatRanges(0, widths)},
]

// biome-ignore format: a table
export const twoCells: readonly number[] = [
  ${formatRanges(2, widths)},
]
`
  writeFileSync(resolve(import.meta.dirname, '../src/shared/characterWidthRanges.ts'), wrapLines(text))
}

function wrapLines(text: string): string {
  const fold = (line: string) => (line.length < 120 ? line : line.replace(/(.{1,116}[,])( |$)/g, '$1\n  ').trimEnd())
  return text.split('\n').map(fold).join('\n')
}

if (import.meta.main) write()
