import type { Highlighting } from './highlighter.ts'
import { type LineTokens, tokenKinds } from './tokens.ts'

/** In one element of so many, which a browser lays out only where it is in view. */
const linesOfGroup = 40
const patienceMs = 120
const classOf = tokenKinds.map((kind) => (kind === 'plain' ? '' : `tok-${kind}`))

export type CodeLines = {
  /** What the block holds now. Lines before the last one are finished where the text only grew. */
  show(code: string, closed: boolean): void
  close(): void
}

type OpenHighlighting = (told: (from: number, tokens: readonly LineTokens[]) => void) => Highlighting | undefined

/**
 * Draws a block of code line by line. A line is put there once, and coloured once when it is finished; the one that is
 * being written stays plain.
 */
export function codeLines(place: HTMLElement, openHighlighting: OpenHighlighting): CodeLines {
  let texts: string[] = []
  let lines: HTMLElement[] = []
  let handed = 0
  let highlighting: Highlighting | undefined
  let arrived: { from: number; tokens: readonly LineTokens[] }[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  const colour = () => {
    clearTimeout(timer)
    timer = undefined
    for (const { from, tokens } of arrived) {
      for (const [index, line] of tokens.entries()) paint(lines[from + index], texts[from + index] ?? '', line)
    }
    arrived = []
  }
  const open = () => {
    highlighting = openHighlighting((from, tokens) => {
      arrived.push({ from, tokens })
      // With the next words, in one drawing with them; or soon, where no more come.
      timer ??= setTimeout(colour, patienceMs)
    })
  }
  const reset = () => {
    clearTimeout(timer)
    timer = undefined
    arrived = []
    highlighting?.close()
    place.replaceChildren()
    texts = []
    lines = []
    handed = 0
    open()
  }
  const append = (text: string) => {
    const group = lines.length % linesOfGroup === 0 ? newGroup(place) : (place.lastElementChild ?? newGroup(place))
    const line = document.createElement('span')
    line.className = 'code-line'
    line.textContent = `${text}\n`
    group.append(line)
    lines.push(line)
    texts.push(text)
  }
  open()
  return {
    show(code, closed) {
      const next = code.split('\n')
      const finished = closed ? next.length : next.length - 1
      if (!isGrown(texts, next, handed)) reset()
      for (let at = handed; at < texts.length; at++) {
        const line = lines[at]
        const text = next[at] ?? ''
        if (line && texts[at] !== text) {
          line.textContent = `${text}\n`
          texts[at] = text
        }
      }
      for (let at = texts.length; at < next.length; at++) append(next[at] ?? '')
      if (finished > handed) highlighting?.add(next.slice(handed, finished))
      handed = Math.max(handed, finished)
      if (arrived.length > 0) colour()
    },
    close() {
      clearTimeout(timer)
      highlighting?.close()
    },
  }
}

/** The lines that were handed over are the same as before. Looks at the ends alone: a text that streams only grows. */
function isGrown(before: readonly string[], next: readonly string[], handed: number): boolean {
  if (next.length < before.length) return false
  return handed === 0 || (before[0] === next[0] && before[handed - 1] === next[handed - 1])
}

function newGroup(place: HTMLElement): HTMLElement {
  const group = document.createElement('span')
  group.className = 'code-group'
  place.append(group)
  return group
}

function paint(line: HTMLElement | undefined, text: string, tokens: LineTokens): void {
  if (!line || (tokens.length <= 2 && tokens[1] === 0)) return
  const parts: (Node | string)[] = []
  let at = 0
  for (let index = 0; index < tokens.length; index += 2) {
    const end = at + (tokens[index] ?? 0)
    const part = text.slice(at, end)
    const name = classOf[tokens[index + 1] ?? 0]
    if (name) {
      const token = document.createElement('span')
      token.className = name
      token.textContent = part
      parts.push(token)
    } else parts.push(part)
    at = end
  }
  parts.push(`${text.slice(at)}\n`)
  line.replaceChildren(...parts)
}
