import { AppError } from '#shared/appError.ts'
import type { SellerAnswer } from './seller.ts'

/** Compares this computer's clock with others: a signature made by a clock that is ahead is good for as much longer. */
export type SigningClock = {
  /**
   * Compares it with the seller's `Date`, and where that is missing or disagrees, with the newest block of the network.
   * @throws AppError `purchase/clock`
   */
  assertAtSeller(answer: SellerAnswer, seller: { host: string; network: string }): Promise<void>
  /** Compares it with the newest block of the network. Without an answer it does nothing. @throws AppError `purchase/clock` */
  assertAtChain(network: string): Promise<void>
}

const maxDifferenceMs = 2 * 60_000

type Options = {
  /** Time of the newest block; undefined if no node of this network is known, or it does not answer. */
  blockTimeMs: (network: string) => Promise<number | undefined>
  now: () => number
}

export function createSigningClock({ blockTimeMs, now }: Options): SigningClock {
  return {
    async assertAtSeller({ headers: { date, age = '0' } }, { host, network }) {
      const theirsMs = Date.parse(date ?? '') + Number(age) * 1000
      const hasClock = !Number.isNaN(theirsMs)
      if (hasClock && !isFar(now() - theirsMs)) return
      const blockMs = await blockTimeMs(network)
      if (blockMs !== undefined && isFar(now() - blockMs)) throw createClockError(now() - blockMs, 'the network')
      if (blockMs === undefined && hasClock) throw createClockError(now() - theirsMs, host)
    },
    async assertAtChain(network) {
      const blockMs = await blockTimeMs(network)
      if (blockMs !== undefined && isFar(now() - blockMs)) throw createClockError(now() - blockMs, 'the network')
    },
  }
}

function isFar(differenceMs: number): boolean {
  return Math.abs(differenceMs) > maxDifferenceMs
}

function createClockError(differenceMs: number, otherTime: string): AppError {
  const minutes = Math.round(Math.abs(differenceMs) / 60_000)
  const words = differenceMs > 0 ? 'ahead of' : 'behind'
  return new AppError(
    'purchase/clock',
    `The clock of this computer is ${minutes} minutes ${words} that of ${otherTime}.`,
  )
}
