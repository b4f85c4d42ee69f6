import { revealHidden } from '#shared/untrustedText.ts'
import { growLines, type Lines, noLines } from './growLines.ts'
import type { Highlighting } from './highlighter.ts'
import { type LineTokens, tokenKinds } from './tokens.ts'

/** Number of lines per element. Browsers lay out an element only when it is visible. */
const linesPerGroup = 40
/** Batching interval for completed lines, because each message to the worker costs as much as rendering a line. */
const batchIntervalMs = 120
/** Maximum delay of colors, so that they are rendered together with further text. */
const colorDelayMs = 120
const classOf = tokenKinds.map((kind) => (kind === 'plain' ? '' : `tok-${kind}`))

export type CodeLines = {
  /** Sets the current code. All lines but the last are final, as long as the text only grows. */
  show(code: string, closed: boolean): void
  close(): void
}

type OpenHighlighting = (onTokens: (from: number, tokens: readonly LineTokens[]) => void) => Highlighting | undefined

/**
 * Renders a code block line by line. A line is added once and colored once when complete. The last line stays plain
 * while it grows.
 */
export function createCodeLines(place: HTMLElement, openHighlighting: OpenHighlighting): CodeLines {
  let present: Lines = noLines
  let finished = 0
  const elements: HTMLElement[] = []
  let handed = { lines: 0, atMs: Number.NEGATIVE_INFINITY }
  let highlighting: Highlighting | undefined
  let arrived: { from: number; tokens: readonly LineTokens[] }[] = []
  const timers: { color?: Timer; hand?: Timer } = {}

  const color = () => {
    clearTimeout(timers.color)
    delete timers.color
    for (const { from, tokens } of arrived) {
      for (const [index, line] of tokens.entries())
        paint(elements[from + index], toDisplayLine(present.lines[from + index] ?? ''), line)
    }
    arrived = []
  }
  const open = () => {
    highlighting = openHighlighting((from, tokens) => {
      arrived.push({ from, tokens })
      // Applied together with the next text, or after a delay if no text follows.
      timers.color ??= setTimeout(color, colorDelayMs)
    })
  }
  const hand = () => {
    clearTimeout(timers.hand)
    delete timers.hand
    if (finished > handed.lines) highlighting?.add(present.lines.slice(handed.lines, finished).map(toDisplayLine))
    handed = { lines: finished, atMs: performance.now() }
  }
  const stop = () => {
    clearTimeout(timers.color)
    clearTimeout(timers.hand)
    delete timers.color
    delete timers.hand
    highlighting?.close()
    arrived = []
  }
  const write = (at: number, text: string) => {
    const line = elements[at]
    const drawn = toDisplayLine(text)
    if (!line) elements.push(appendLine(place, at, drawn))
    else if (line.textContent !== `${drawn}\n`) line.textContent = `${drawn}\n`
  }
  const removeFrom = (count: number) => {
    for (const line of elements.splice(count)) {
      const group = line.parentElement
      line.remove()
      if (group?.childElementCount === 0) group.remove()
    }
  }
  open()
  return {
    show(code, closed) {
      let { unchanged, ...next } = growLines(present, code)
      if (unchanged < handed.lines) {
        // Lines that were already highlighted have changed.
        stop()
        open()
        removeFrom(0)
        handed = { lines: 0, atMs: Number.NEGATIVE_INFINITY }
        unchanged = 0
      }
      for (let at = unchanged; at < next.lines.length; at++) {
        const text = next.lines[at] ?? ''
        if (at >= elements.length || present.lines[at] !== text) write(at, text)
      }
      removeFrom(next.lines.length)
      present = next
      finished = closed ? next.lines.length : next.lines.length - 1
      if (closed || performance.now() - handed.atMs >= batchIntervalMs) hand()
      else if (finished > handed.lines) timers.hand ??= setTimeout(hand, batchIntervalMs)
      if (arrived.length > 0) color()
    },
    close: stop,
  }
}

/** Length in characters after which a line is truncated. Laying out a longer line could take seconds. */
const maxLine = 10_000

/** Escapes a line for display. Copying uses the original line. */
export function toDisplayLine(text: string): string {
  if (text.length <= maxLine) return revealHidden(text)
  const rest = (text.length - maxLine).toLocaleString('en')
  return `${revealHidden(text.slice(0, maxLine))} … ${rest} more characters, included when you copy`
}

type Timer = ReturnType<typeof setTimeout>

function appendLine(place: HTMLElement, at: number, text: string): HTMLElement {
  const line = document.createElement('span')
  line.className = 'code-line'
  line.textContent = `${text}\n`
  const group = at % linesPerGroup === 0 ? appendGroup(place) : (place.lastElementChild ?? appendGroup(place))
  group.append(line)
  return line
}

function appendGroup(place: HTMLElement): HTMLElement {
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
