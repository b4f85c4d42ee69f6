/** Long enough that no press meant for something else is taken for an approval, as browsers do for their own prompts. */
export const settleMs = 500

/** Tells `true` once nothing disturbed it for a moment, and `false` when something did. */
export function watchSettling(become: (settled: boolean) => void): { disturb(): void; end(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    disturb() {
      clearTimeout(timer)
      become(false)
      timer = setTimeout(() => become(true), settleMs)
    },
    end: () => clearTimeout(timer),
  }
}
