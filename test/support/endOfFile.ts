/** Closed at the end of this test file by `leakGuard.ts`, before it looks for leaks. */
const closings: (() => Promise<void>)[] = []

/** Runs `close` after the tests and hooks of the file, the last one first. */
export function atEndOfFile(close: () => Promise<void>): void {
  closings.push(close)
}

export async function endFile(): Promise<void> {
  for (let close = closings.pop(); close; close = closings.pop()) await close()
}
