/** Splits `limit` fairly, so that large demands do not starve small ones. */
export function divideFairly(requested: readonly number[], limit: number): number[] {
  const shares = requested.map(() => 0)
  let remaining = limit
  let hungry = requested.flatMap((want, index) => (want > 0 ? [index] : []))
  while (hungry.length > 0 && remaining > 0) {
    const each = Math.max(1, Math.floor(remaining / hungry.length))
    for (const index of hungry) {
      const more = Math.min(each, (requested[index] ?? 0) - (shares[index] ?? 0), remaining)
      shares[index] = (shares[index] ?? 0) + more
      remaining -= more
    }
    hungry = hungry.filter((index) => (shares[index] ?? 0) < (requested[index] ?? 0))
  }
  return shares
}
