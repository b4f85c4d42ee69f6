import type { Root } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { mathFromMarkdown } from 'mdast-util-math'
import { gfm } from 'micromark-extension-gfm'
import { math } from 'micromark-extension-math'
import { withFewMarks } from '#shared/untrustedText.ts'
import { withMathMarks } from './mathMarks.ts'

const extensions = [gfm({ singleTilde: false }), math()]
const mdastExtensions = [gfmFromMarkdown(), mathFromMarkdown()]

/** Maximum nesting of quotations and lists. Deeper ones are rendered as text. */
const maxDepth = 12
/** Maximum length in characters. Longer text is shown verbatim. */
const maxLength = 16_000
/**
 * Maximum number of markers that may remain open until the end of the text. The parser searches for the end of each one
 * repeatedly.
 */
const maxOpen = 400
const maxMarks = 1_000

/**
 * @param definitions link definitions that the text refers to
 * @returns undefined if the text would take long to parse and should be shown verbatim
 */
export function parseMarkdown(text: string, definitions = ''): Root | undefined {
  if (text.length > maxLength || isCostly(text)) return undefined
  const shallow = withFewMarks(text).split('\n').map(limitContainers).join('\n')
  const needed = definitions !== '' && shallow.includes('[') ? `\n\n${definitions}` : ''
  try {
    return fromMarkdown(withMathMarks(shallow) + needed, { extensions, mdastExtensions })
  } catch {
    return undefined // the parser failed, so the text is shown verbatim
  }
}

/** Whether a text is a paragraph without markup and needs no parser. */
export function isPlainParagraph(text: string): boolean {
  return text.length < maxLength && /^\p{L}[\p{L}\p{N} ,.;?'"’“”()%–—]*$/u.test(text) && !/www\.| $/i.test(text)
}

/** Escapes the first container marker (`>>>>…`, `- - - …`) beyond the maximum depth. */
function limitContainers(line: string): string {
  let at = 0
  for (let depth = 0; at < line.length; depth++) {
    const mark = /^[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))[ \t]?/.exec(line.slice(at, at + 200))
    if (!mark) return line
    if (depth === maxDepth) {
      const start = at + mark[0].length - mark[0].trimStart().length
      return `${line.slice(0, start)}\\${line.slice(start)}`
    }
    at += mark[0].length
  }
  return line
}

/** Whether a text has so many markers that the parser may backtrack for long. Ordinary texts leave few of them open. */
function isCostly(text: string): boolean {
  let open = 0
  let marks = 0
  let before = ''
  for (const character of text) {
    if (character === '[') open++
    else if (character === ']') open = Math.max(0, open - 1)
    if ('[*_~`'.includes(character) && character !== before) marks++
    before = character
    if (open > maxOpen || marks > maxMarks) return true
  }
  return false
}
