import { beforeEach } from 'vitest'

/** Skips every test of the suite that calls it, and prints why. */
export function skipWhen(reason: string | null | undefined): void {
  beforeEach((context) => {
    if (reason) context.skip(reason)
  })
}
