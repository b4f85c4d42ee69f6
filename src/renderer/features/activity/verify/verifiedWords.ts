import type { Verified } from './useVerify.ts'

/** What came of it, in a sentence. */
export function verifiedWords({ ok, checked, problems }: Pick<Verified, 'ok' | 'checked' | 'problems'>): string {
  if (!ok)
    return problems.length === 1
      ? 'The log was changed in one place'
      : `The log was changed in ${most(problems)} places`
  if (checked === 0) return 'The log is empty, and nothing is missing'
  return checked === 1 ? 'The one entry is intact' : `All ${checked.toLocaleString('en')} entries are intact`
}

/** The agent names no more than the first hundred. */
function most(problems: Verified['problems']): string {
  return problems.length >= 100 ? '100 or more' : String(problems.length)
}
