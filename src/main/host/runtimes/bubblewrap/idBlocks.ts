import { randomInt } from 'node:crypto'
import { idsPerImage } from './images/idRange.ts'

/** Block of consecutive user ids of the host. */
export type IdBlock = { first: number; count: number }

/**
 * Ids of sandboxes if Steward runs as root, from the ranges that distributions and systemd leave unused. A sandbox uses
 * one id, or many if it has an image.
 * @see https://systemd.io/UIDS-GIDS/
 */
export const sandboxIds: IdBlock = { first: 1_900_000_000, count: 200_000_000 }

/** User ids for package scripts while an image is built as root. Not used by any sandbox. */
export const buildIds: IdBlock = { first: 1_899_800_000, count: idsPerImage }

/**
 * Offsets in an ordinary user's subordinate id range for the roots of sandboxes without an image. Far from the ids that
 * images use.
 */
export const rootIdOffsets: IdBlock = { first: 20_000, count: 40_000 }

/** Returns the number of ids that a sandbox needs. Without an image, its only user is root. */
export const countIds = (image: string | null): number => (image === null ? 1 : idsPerImage)

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
