import { randomInt } from 'node:crypto'
import { idsOfImage } from './images/idRange.ts'

/** Consecutive users of the host. */
export type IdBlock = { first: number; count: number }

/**
 * Ids of machines as root, from the ranges that distributions and systemd leave unused. A machine is one user; a
 * machine with an image is many.
 * @see https://systemd.io/UIDS-GIDS/
 */
export const sandboxIds: IdBlock = { first: 1_900_000_000, count: 200_000_000 }

/** User ids for package scripts while an image is built as root. No sandbox uses them. */
export const buildIds: IdBlock = { first: 1_899_800_000, count: idsOfImage }

/**
 * Numbers in the range of an ordinary user's subordinate ids for the roots of machines of the host's own programs: far from
 * those that images use.
 */
export const numbersOfRoots: IdBlock = { first: 20_000, count: 40_000 }

/** A machine of the host's own programs has one user, its root. */
export const countIds = (image: string | null): number => (image === null ? 1 : idsOfImage)

/** Returns a block that overlaps none of `taken`. */
export function findFreeBlock(
  count: number,
  used: readonly IdBlock[],
  pool: IdBlock = sandboxIds,
  choose: (below: number) => number = randomInt,
): IdBlock {
  for (;;) {
    const first = pool.first + choose(pool.count - count + 1)
    if (!used.some((block) => first < block.first + block.count && block.first < first + count)) return { first, count }
  }
}
