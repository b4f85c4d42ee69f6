import type { Verified } from './useVerify.ts'

export function describeVerification({ ok, checked, problems }: Pick<Verified, 'ok' | 'checked' | 'problems'>): string {
  if (!ok)
    return problems.length === 1
      ? 'The log was changed in 1 place'
      : `The log was changed in ${describeProblems(problems)} places`
  if (checked === 0) return 'The log is empty'
  // Entries may have been added since the verification, so the range is included.
  return checked === 1 ? 'Entry 1 is intact' : `Entries 1 to ${checked.toLocaleString('en')} are intact`
}

/** The agent reports at most 100 problems. */
function describeProblems(problems: Verified['problems']): string {
  return problems.length >= 100 ? '100 or more' : String(problems.length)
}
