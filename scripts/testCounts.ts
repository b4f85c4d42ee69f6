export type Counts = { passed: number; failed: number; skipped: number }

export function plainLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}
