/** Splits `limit` fairly: large demands never starve small ones. */
export function fairShares(wanted: readonly number[], limit: number): number[] {
  const shares = wanted.map(() => 0)
  let left = limit
  let hungry = wanted.flatMap((want, index) => (want > 0 ? [index] : []))
  while (hungry.length > 0 && left > 0) {
    const each = Math.max(1, Math.floor(left / hungry.length))
    for (const index of hungry) {
      const more = Math.min(each, (wanted[index] ?? 0) - (shares[index] ?? 0), left)
      shares[index] = (shares[index] ?? 0) + more
      left -= more
    }
    hungry = hungry.filter((index) => (shares[index] ?? 0) < (wanted[index] ?? 0))
  }
  return shares
}
