import katex from 'katex'
import { useLayoutEffect, useRef } from 'react'
import 'katex/dist/katex.min.css'

/** Rendered formula. In a separate chunk with KaTeX, its styles and fonts, loaded with the first formula. */
export function KatexFormula({ tex, display }: { tex: string; display: boolean }) {
  const place = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    place.current?.replaceChildren(renderFormula(tex, display) ?? tex)
  }, [tex, display])
  return <span ref={place} className={display ? 'formula-display' : 'formula'} />
}

/** Maximum number of characters that a formula's macros may expand to in total. */
const maxExpanded = 40_000
const maxExpansions = 200
const definesMacros = /\\(?:[gex]?def|let|futurelet|(?:re)?newcommand|providecommand)(?![a-zA-Z])/
const maxDepth = 250
const maxElements = 20_000

/** @returns undefined if the formula is nested too deeply or too large, so that its source is shown instead */
function renderFormula(tex: string, display: boolean): HTMLElement | undefined {
  const formula = document.createElement('span')
  const expansions = Math.max(10, Math.min(maxExpansions, Math.floor(maxExpanded / tex.length)))
  try {
    katex.render(tex, formula, {
      displayMode: display,
      throwOnError: false,
      errorColor: 'var(--negative)',
      // Formulas are model output, so links, loading and styles are disabled.
      trust: false,
      strict: false,
      maxSize: 20,
      maxExpand: definesMacros.test(tex) ? expansions : maxExpansions,
    })
  } catch {
    return undefined // KaTeX throws despite `throwOnError: false` if the nesting overflows its parser
  }
  return isWithinLimits(formula) ? formula : undefined
}

/** Whether depth and element count are within the limits. Iterative, because the nesting may be deep. */
function isWithinLimits(formula: Element): boolean {
  let [depth, count] = [0, 0]
  for (let at: Element | null = formula; at; count++) {
    if (depth > maxDepth || count > maxElements) return false
    if (at.firstElementChild) {
      at = at.firstElementChild
      depth++
      continue
    }
    while (at && at !== formula && !at.nextElementSibling) {
      at = at.parentElement
      depth--
    }
    at = at === formula ? null : (at?.nextElementSibling ?? null)
  }
  return true
}
