import { lazy, memo, Suspense } from 'react'

type FormulaProps = { tex: string; display: boolean }

const maxLength = 5_000
const KatexFormula = lazy(async () => ({ default: (await import('./KatexFormula.tsx')).KatexFormula }))

/** Formula, shown as text while KaTeX is loading, or if the formula is too long. */
export const Formula = memo(function Formula({ tex, display }: FormulaProps) {
  const text = <code>{tex}</code>
  if (tex.length > maxLength) return text
  return (
    <Suspense fallback={text}>
      <KatexFormula tex={tex} display={display} />
    </Suspense>
  )
})
