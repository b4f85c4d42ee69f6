import { AppError } from '#shared/appError.ts'
import type { SellerResponse } from './seller.ts'

/** Compares this computer's clock with others. A signature made with a fast clock is valid for too long. */
export type SigningClock = {
  /**
   * Compares the clock with the seller's `Date`, or with the newest block of the network if the header is missing or
   * differs.
   * @throws AppError `purchase/clock`
   */
  assertAtSeller(answer: SellerResponse, seller: { host: string; network: string }): Promise<void>
  /**
   * Compares the clock with the newest block of the network. Does nothing if the block time is unknown.
   * @throws AppError `purchase/clock`
   */
  assertAtChain(network: string): Promise<void>
}

const maxDifferenceMs = 2 * 60_000

type Options = {
  /** Returns the time of the newest block, or undefined if no node of this network is configured or responds. */
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
  const direction = differenceMs > 0 ? 'ahead of' : 'behind'
  return new AppError('purchase/clock', `The clock of this computer is ${minutes} minutes ${direction} ${otherTime}.`)
}
