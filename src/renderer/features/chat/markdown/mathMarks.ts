/**
 * Returns the text with every formula between dollar signs and all other dollar signs escaped: `$5 or $10` is an
 * amount, `$x$` and `\(x\)` are formulas. An opening dollar sign is not followed by whitespace. A closing one is not
 * preceded by whitespace and not followed by a digit.
 */
export function withMathMarks(text: string): string {
  if (!text.includes('$') && !text.includes('\\(')) return text
  const parts: string[] = []
  let from = 0
  let at = 0
  const take = (until: number) => {
    parts.push(text.slice(from, until))
    from = until
  }
  // Each search continues from the end of the previous one, so that the whole text takes one pass.
  const noMore = { dollar: false, paren: false }
  while (at < text.length) {
    const character = text[at]
    if (character === '`') {
      at = skipCode(text, at)
    } else if (character === '\\' && text[at + 1] === '(' && !noMore.paren) {
      const end = text.indexOf('\\)', at + 2)
      if (end === -1) noMore.paren = true
      if (end === -1 || hasBreak(text, at, end)) {
        at += 2
        continue
      }
      take(at)
      parts.push(
        `$${text
          .slice(at + 2, end)
          .trim()
          .replaceAll('$', '')}$`,
      )
      from = end + 2
      at = from
    } else if (character === '\\') {
      at += 2
    } else if (character === '$') {
      const double = text[at + 1] === '$'
      const end = noMore.dollar ? -1 : double ? text.indexOf('$$', at + 2) : findClosingDollar(text, at)
      if (end === undefined || end === -1) {
        if (end === -1 && !double) noMore.dollar = true
        take(at)
        parts.push('\\')
        at += 1
        if (double && text[at] === '$') {
          take(at)
          parts.push('\\')
          at += 1
        }
      } else at = end + (double ? 2 : 1)
    } else at += 1
  }
  take(text.length)
  return parts.join('')
}

const maxInline = 1_000

/** @returns undefined if this dollar sign opens no formula, or -1 if no further dollar sign follows */
function findClosingDollar(text: string, open: number): number | undefined {
  const next = text[open + 1]
  if (next === undefined || /\s/.test(next)) return undefined
  const end = text.indexOf('$', open + 1)
  if (end === -1) return -1
  if (end - open > maxInline || hasBreak(text, open, end)) return undefined
  const before = text[end - 1] ?? ''
  if (/\s/.test(before) || before === '\\' || /\d/.test(text[end + 1] ?? '')) return undefined
  return end
}

function hasBreak(text: string, from: number, to: number): boolean {
  return text.slice(from, to).includes('\n\n')
}

/** Returns the index after the inline code that starts here, or after its backticks if it is not closed. */
function skipCode(text: string, start: number): number {
  let marks = 0
  while (text[start + marks] === '`') marks++
  const close = '`'.repeat(marks)
  for (let end = text.indexOf(close, start + marks); end !== -1; ) {
    let length = marks
    while (text[end + length] === '`') length++
    if (length === marks) return end + marks
    end = text.indexOf(close, end + length)
  }
  return start + marks
}
