import katex from 'katex'
import { useLayoutEffect, useRef } from 'react'
import 'katex/dist/katex.min.css'

/** In a chunk of its own, with KaTeX, its styles and fonts: read when the first formula comes. */
export function KatexFormula({ tex, display }: { tex: string; display: boolean }) {
  const place = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    if (!place.current) return
    katex.render(tex, place.current, {
      displayMode: display,
      throwOnError: false,
      errorColor: 'var(--negative)',
      // Nothing of a formula may link, load or style: it is a model's text.
      trust: false,
      strict: false,
      maxSize: 20,
      maxExpand: 200,
    })
  }, [tex, display])
  return <span ref={place} className={display ? 'formula-display' : 'formula'} />
}
