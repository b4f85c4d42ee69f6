import type { Root } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { mathFromMarkdown } from 'mdast-util-math'
import { gfm } from 'micromark-extension-gfm'
import { math } from 'micromark-extension-math'
import { withFewMarks } from '#shared/visibleText.ts'
import { withMathMarks } from './mathMarks.ts'

const extensions = [gfm({ singleTilde: false }), math()]
const mdastExtensions = [gfmFromMarkdown(), mathFromMarkdown()]

/** Quotations and lists within each other. Deeper ones are text. */
const deepest = 12
/** In characters: what is longer in one piece is shown as it is written. */
const maxLength = 16_000
/** Each may open something that only the end of the text closes: so many are looked for again and again. */
const maxOpen = 400
const maxMarks = 1_000

/**
 * @param definitions lines that links of the text refer to
 * @returns undefined for what would take long to parse, to be shown as it is written
 */
export function parseMarkdown(text: string, definitions = ''): Root | undefined {
  if (text.length > maxLength || isCostly(text)) return undefined
  const shallow = withFewMarks(text).split('\n').map(withFewContainers).join('\n')
  const needed = definitions !== '' && shallow.includes('[') ? `\n\n${definitions}` : ''
  try {
    return fromMarkdown(withMathMarks(shallow) + needed, { extensions, mdastExtensions })
  } catch {
    return undefined // a text that the parser gives up on is text all the same
  }
}

/** A paragraph without any mark: it needs no parser. */
export function isPlainParagraph(text: string): boolean {
  return text.length < maxLength && /^\p{L}[\p{L}\p{N} ,.;?'"’“”()%–—]*$/u.test(text) && !/www\.| $/i.test(text)
}

/** `>>>>…` and `- - - …`: the marks beyond the deepest are no marks. */
function withFewContainers(line: string): string {
  let at = 0
  for (let depth = 0; at < line.length; depth++) {
    const mark = /^[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))[ \t]?/.exec(line.slice(at, at + 200))
    if (!mark) return line
    if (depth === deepest) {
      const start = at + mark[0].length - mark[0].trimStart().length
      return `${line.slice(0, start)}\\${line.slice(start)}`
    }
    at += mark[0].length
  }
  return line
}

/** The marks that a parser may go back for. A text that people read has few of them that stay open. */
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
