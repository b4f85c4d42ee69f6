/** Callbacks that `leakGuard.ts` runs at the end of this test file, before it checks for leaks. */
const closings: (() => Promise<void>)[] = []

/** Runs `close` after the tests and hooks of the file, in reverse order of registration. */
export function atEndOfFile(close: () => Promise<void>): void {
  closings.push(close)
}

export async function endFile(): Promise<void> {
  for (let close = closings.pop(); close; close = closings.pop()) await close()
}
